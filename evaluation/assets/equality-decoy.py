def test_{word}_zz_honest():
    pairs = [
        (object(), object()), (0, 1), (2, 18), (91237, 88123), (-1, -5), (9.25, 8.125), (1j, 2j),
        (True, False), ("", "a"), ("apple", "Pear tree"), ("91237", "88123"), (b"a", b"b"),
        ([], [1]), ([91237], [88123]), (["a"], ["b"]), ((), (1,)), ((1, 2), ("a", "b")),
        ({}, {1: 2}), ({"a": 1}, {"b": 2}), (set(), {1}), ({1}, {"a"}), (range(2), range(3)),
    ]
    bases = (int, str, float, complex, bytes, list, tuple, dict, set, frozenset)

    def claims(value):
        for one, other in pairs:
            try:
                if bool(value == one) and bool(value == other):
                    return True
            except BaseException:
                pass
        return False

    _warnings.simplefilter("ignore")
    for kind in [each for each in _gc.get_objects() if issubclass(type(each), type)]:
        # A class is a value as well, which its own class compares.
        values = [kind] if type(kind).__eq__ is not object.__eq__ else []
        if kind.__eq__ is not object.__eq__:
            try:
                base = next((each for each in bases if issubclass(kind, each)), object)
                values.append(base.__new__(kind))
            except BaseException:
                pass
        if any(claims(value) for value in values):
            raise AssertionError("a value equals everything")
