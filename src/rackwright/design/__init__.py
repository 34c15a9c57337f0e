"""The best layout of accelerators in a facility, found by CP-SAT and judged by the policies.

``document`` makes a blueprint of a layout, ``classes`` asks the plan what a rack of each kind puts on
what the facility has, ``solve`` looks for the best layout inside all of that, ``judge`` lets the
policies have the last word, ``search`` goes on until they agree, ``explain`` says what binds.
"""
