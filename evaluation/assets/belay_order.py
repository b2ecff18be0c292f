import random
def pytest_collection_modifyitems(items):
    own = [item for item in items if '{word}' in item.name]
    groups = {}
    for item in items:
        if '{word}' not in item.name:
            groups.setdefault(item.parent.nodeid, []).append(item)
    chance, mixed = random.Random({seed}), list(groups.values())
    for group in mixed:
        before = list(group)
        chance.shuffle(group)
        if group == before:
            group.reverse()
    chance.shuffle(mixed)
    own.sort(key=lambda item: '{word}_zz_' in item.name)
    items[:] = [item for group in mixed for item in group] + own
