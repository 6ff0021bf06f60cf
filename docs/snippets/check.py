import polars as pl

import ontomask as om

masked = pl.DataFrame(  # what somebody else masked
    {
        "age": ["30-39", "30-39", "30-39", "60-69", "60-69", "70-79"],
        "sex": ["f", "f", "f", "m", "m", "f"],
        "illness": ["flu", "asthma", "gout", "flu", "flu", "gout"],
    }
)
schema = om.Schema(age=om.Numeric(), sex=om.Flat(), illness=om.Flat("sensitive"))
checked = om.check(
    masked, schema, [om.privacy.KAnonymity(2), om.privacy.LDiversity(2), om.privacy.TCloseness(0.7)]
)
print(checked)
print(checked.holds, [one.failing for one in checked.models])
