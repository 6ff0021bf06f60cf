import pytest
from typer.testing import CliRunner

from ontomask import cli

RUN = CliRunner()


def test_the_demo_shows_mapping_distances_and_centroid():
    result = RUN.invoke(cli.app, ["demo"])
    assert result.exit_code == 0
    for shown in (
        "9 of 12 values mapped",
        "008.45",
        "0.42",
        "semantic centroid    250 ",
    ):
        assert shown in result.output


def test_taxonomies_are_listed():
    result = RUN.invoke(cli.app, ["taxonomies"])
    assert "icd9cm" in result.output
    assert "82,115" in result.output


def test_kernels_can_be_compiled_ahead():
    result = RUN.invoke(cli.app, ["warm"])
    assert result.exit_code == 0
    assert "The kernels are compiled." in result.output


def test_a_mistake_is_a_sentence_and_not_a_traceback(monkeypatch, capsys):
    def wrong() -> None:
        raise cli.OntomaskError("k must be a whole number.")

    monkeypatch.setattr(cli, "app", wrong)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.strip() == "Error: k must be a whole number."
