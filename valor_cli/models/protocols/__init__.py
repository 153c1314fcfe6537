"""What judges, embedders, language models and classifiers can do."""
