# Judge and worker exchange values as JSON of plain data, with exactly the built-in types. An object
# whose `__eq__` accepts everything stays in the worker, and the judge gets a handle that equals no
# value.
import json, sys
getattr(sys, 'set_int_max_str_digits', int)(0)
# Their modules are imported at first use, because every import delays both processes.
NAMED = {'Counter': 'collections', 'OrderedDict': 'collections', 'deque': 'collections', 'Decimal': 'decimal',
    'Fraction': 'fractions', 'date': 'datetime', 'datetime': 'datetime', 'time': 'datetime', 'timedelta': 'datetime'}
def named(v):
    name = type(v).__name__
    if NAMED.get(name) != type(v).__module__:
        return None
    if name == 'Decimal':
        return [name, str(v)]
    if name == 'Fraction':
        return [name, v.numerator, v.denominator]
    if NAMED[name] == 'datetime':
        return [name, *v.__reduce__()[1]]
    return [name, list(v)] if name == 'deque' else [name, dict(v)]
def encode(value, handle):
    def one(v):
        if v is None or isinstance(v, bool):
            return v
        for base in (int, float, str):
            if isinstance(v, base):
                return base(v)
        if isinstance(v, complex):
            return {'complex': [v.real, v.imag]}
        if isinstance(v, (bytes, bytearray)):
            return {'bytes': bytes(v).hex()}
        parts = named(v)
        if parts:
            return {'named': [one(x) for x in parts]}
        if isinstance(v, range):
            return {'range': [v.start, v.stop, v.step]}
        if isinstance(v, list):
            return [one(x) for x in v]
        if isinstance(v, tuple):
            return {'tuple': [one(x) for x in v]}
        if isinstance(v, dict):
            return {'dict': [[one(k), one(x)] for k, x in v.items()]}
        if isinstance(v, frozenset):
            return {'frozenset': [one(x) for x in v]}
        if isinstance(v, (set, type({}.keys()))):
            return {'set': [one(x) for x in v]}
        if isinstance(v, type({}.values())):
            return [one(x) for x in v]
        if type(v) in ITERATORS:
            items = []
            for x in v:
                items.append(one(x))
                if len(items) > 1000000:
                    raise ValueError('an iterator has no end')
            return {'iterator': items}
        return handle(v)
    return one(value)
ITERATORS = {type(x) for x in (map(int, []), filter(int, []), zip(), iter([]), iter(()), iter(''), iter(range(0)),
    reversed([]), enumerate([]), iter({}), iter(set()), (x for x in ()))}
def decode(value, handle):
    def one(v):
        if isinstance(v, list):
            return [one(x) for x in v]
        if not isinstance(v, dict):
            return v
        (kind, x), = v.items()
        if kind == 'handle':
            return handle(x)
        if kind == 'complex':
            return complex(*x)
        if kind == 'bytes':
            return bytes.fromhex(x)
        if kind == 'range':
            return range(*x)
        if kind == 'named':
            name, *parts = one(x)
            return getattr(__import__(NAMED[name]), name)(*parts)
        if kind == 'dict':
            return {one(k): one(y) for k, y in x}
        if kind == 'iterator':
            return iter(one(x))
        return {'tuple': tuple, 'set': set, 'frozenset': frozenset}[kind](one(x))
    return one(value)
