# Runs the tests as a different user than the worker, which it asks for the results of the tested
# functions. Names that the tests use come from the reference solution, except for the tested ones,
# which come from the worker. This process writes the proof once the last assertion has passed.
# After a process has changed its user, /proc shows its environment and memory only to root.
import binascii, builtins, os
def part(name, path):
    text = os.environ.pop('BELAY_' + name, None)
    if text is not None:
        return binascii.a2b_base64(text).decode()
    try:
        with open(path, encoding='utf-8') as source:
            return source.read()
    except FileNotFoundError:
        sys.exit('There is no ' + os.path.basename(path) + '.')
def drop(user):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    os.chdir('/tmp')
class Worker:
    def __init__(self):
        calls, self.calls = os.pipe()
        self.results, results = os.pipe()
        self.buffer = b''
        if os.fork() == 0:
            os.dup2(results, 14)
            os.dup2(calls, 13)
            os.dup2(13, 3)
            os.dup2(14, 4)
            os.closerange(5, 256)
            drop(65534)
            os.execve(sys.executable, ['python3', '-I', '-c', WORKER], {'PATH': os.environ.get('PATH', ''),
                'HOME': '/tmp', 'LANG': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'})
        os.close(calls)
        os.close(results)
    def send(self, act, *args):
        data = (json.dumps([act, encode(list(args), handed)]) + '\n').encode()
        try:
            while data:
                data = data[os.write(self.calls, data):]
        except BrokenPipeError:
            self.ended()
    def answer(self):
        while b'\n' not in self.buffer:
            more = os.read(self.results, 1 << 20)
            if not more or len(self.buffer) > 1 << 28:
                self.ended()
            self.buffer += more
        line, self.buffer = self.buffer.split(b'\n', 1)
        kind, *said = json.loads(line)
        if kind == 'value':
            return decode(said[0], Handle)
        kind, text = said
        known = getattr(builtins, str(kind), None)
        if not (isinstance(known, type) and issubclass(known, Exception)) or issubclass(known, StopIteration):
            raise RuntimeError('%s: %s' % (kind, text))
        try:
            error = known(text)
        except TypeError:
            error = RuntimeError('%s: %s' % (kind, text))
        raise error
    def ask(self, act, *args):
        self.send(act, *args)
        return self.answer()
    def ended(self):
        sys.stdout.flush()
        os.write(1, b'\nThe program ended before its tests did.\n')
        os._exit(0)
def handed(v):
    if isinstance(v, Handle):
        return {'handle': object.__getattribute__(v, 'number')}
    raise TypeError('a test gives the program a value that cannot be handed over: %r' % (v,))
class Handle:
    def __init__(self, number):
        object.__setattr__(self, 'number', int(number))
    def __call__(self, *args, **named):
        return WORK.ask('call', self, list(args), named)
    def __getattr__(self, name):
        return WORK.ask('get', self, name)
    def __setattr__(self, name, value):
        WORK.ask('set', self, name, value)
    def __getitem__(self, key):
        return WORK.ask('item', self, key)
    def __iter__(self):
        return iter(WORK.ask('list', self))
    def __len__(self):
        return WORK.ask('len', self)
    def __bool__(self):
        return WORK.ask('bool', self) is True
    def __eq__(self, other):
        return isinstance(other, Handle) and WORK.ask('eq', self, other) is True
    def __str__(self):
        return WORK.ask('str', self)
    __hash__ = object.__hash__
def used(code):
    for constant in code.co_consts:
        if isinstance(constant, type(used.__code__)):
            yield from used(constant)
    yield from code.co_names
def main():
    global WORK
    proof = os.environ.pop('BELAY_PROOF')
    WORK = Worker()
    solution = part('SOLUTION', '/app/solution.py')
    before, reference, tests = (part(name.upper(), '/verify/%s.py' % name) for name in ('before', 'reference', 'tests'))
    drop(65533)
    WORK.send('load', before + solution)
    module = type(sys)('__main__')
    sys.modules['__main__'] = module
    space = module.__dict__
    exec(compile(before, 'before.py', 'exec'), space)
    imported = dict(space)
    exec(compile(reference, 'reference.py', 'exec'), space)
    program = compile(tests, 'tests.py', 'exec')
    WORK.answer()
    for name in NAMES or set(used(program)):
        own = space.get(name)
        isOwn = own is not None and imported.get(name) is not own and not isinstance(own, type(sys))
        if name in NAMES or (isOwn and getattr(own, '__module__', '__main__') == '__main__'):
            space[name] = WORK.ask('name', name)
    exec(program, space)
    sys.stdout.flush()
    os.write(1, ('\n' + proof + '\n').encode())
NAMES = json.loads(os.environ.pop('BELAY_NAMES', '[]'))
WORKER = binascii.a2b_base64('{worker}').decode()
main()
