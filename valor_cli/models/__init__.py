"""Models that help to evaluate: judges, embedders; how they are asked, and what they cost.

    Request ──Calls (cache, budget, retries, concurrency)──▶ Judge ──▶ Reply

A run that asks none of them imports none of this.
"""
