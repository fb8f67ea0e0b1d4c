"""The composition root: ``parts`` creates the components of every run, ``connection`` turns settings into
network policies. Each job's ``run`` adds its own output.
"""
