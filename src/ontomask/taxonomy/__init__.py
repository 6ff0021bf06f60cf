"""Knowledge: taxonomies, terms and semantic distances."""
