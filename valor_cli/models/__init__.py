"""Models used in evaluation: judges, embedders, classifiers, language models.

    Request ──Calls (cache, budget, retries, concurrency)──▶ Judge ──▶ Reply

A run that uses none of them imports none of this.
"""
