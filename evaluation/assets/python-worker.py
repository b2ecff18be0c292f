# Runs the tested code as a separate user. It knows neither the tests nor what they expect: it
# receives calls one at a time, so whatever it does to itself can only change the values that it
# returns.
import os
def main():
    kept = {}
    def keep(v):
        kept[id(v)] = v
        return {'handle': id(v)}
    calls, results = os.fdopen(3, 'r'), os.fdopen(4, 'w')
    module = type(sys)('__main__')
    def load(program):
        sys.argv = ['program.py']
        sys.modules['__main__'] = module
        exec(compile(program, 'program.py', 'exec'), module.__dict__)
    def name(wanted):
        if wanted not in module.__dict__:
            raise NameError("name '%s' is not defined" % wanted)
        return module.__dict__[wanted]
    acts = {'load': load, 'name': name, 'call': lambda f, args, named: f(*args, **named), 'get': getattr,
        'set': setattr, 'item': lambda v, key: v[key], 'len': len, 'bool': bool, 'eq': lambda a, b: bool(a == b), 'list': list, 'str': str}
    for line in calls:
        act, args = json.loads(line)
        try:
            answer = ['value', encode(acts[act](*decode(args, kept.__getitem__)), keep)]
        except BaseException as error:
            answer = ['error', type(error).__name__, str(getattr(error, 'msg', error))]
        sys.stdout.flush()
        results.write(json.dumps(answer) + '\n')
        results.flush()
main()
