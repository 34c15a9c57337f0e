"""A second opinion on the plan: sites at random, and their numbers by other code and formulas.

It was written from the documents (``docs``, the rules' own, those of vendors and standards) without a
look at ``src/rackwright/plan``, and shares no code with it. Formulas name their source where they stand.

- ``things``: what a site is made of, in plain numbers of one unit each.
- ``sites``: sites by a seed. ``blueprints`` writes one as a blueprint and a catalogue.
- ``power``, ``sources``, ``cooling``, ``weight``, ``fabric``: the numbers of a site.
- ``compare``: where the plan differs from them. ``smaller`` looks for the smallest site that still does.
- ``published``: worked examples of public documents.
- ``mutations``: wrong formulas put into the plan, to see that they are noticed.
"""
