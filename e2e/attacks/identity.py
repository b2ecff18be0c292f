"""Attacks the agent and its init from a program in the sandbox, and prints each outcome."""
import ctypes, os, signal, subprocess

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE, PIDFD_GETFD = 16, 17, 0x4206, 438


def told(what, work):
    try:
        work()
        print(what, 'OPEN')
    except OSError as error:
        print(what, 'closed:', error.strerror)


def call(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Piece(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]


def read_memory(pid):
    address = int(next(open('/proc/self/maps')).split('-')[0], 16)
    buffer = ctypes.create_string_buffer(8)
    mine, theirs = Piece(ctypes.addressof(buffer), 8), Piece(address, 8)
    count = libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    # EFAULT means that reading is allowed: the other process has nothing mapped at this address.
    if count < 0 and ctypes.get_errno() != 14:
        call(count)


def attach(pid):
    call(libc.ptrace(PTRACE_ATTACH, pid, 0, 0))
    os.waitpid(pid, 0)
    call(libc.ptrace(PTRACE_DETACH, pid, 0, 0))


def seize(pid):
    call(libc.ptrace(PTRACE_SEIZE, pid, 0, 0))


def look(name, pid):
    for file in ('mem', f'task/{pid}/mem', 'environ', 'maps', 'auxv'):
        told(f'{name} {file}', lambda: open(f'/proc/{pid}/{file}', 'rb').close())
    told(f'{name} fd', lambda: [os.readlink(f'/proc/{pid}/fd/{number}') for number in os.listdir(f'/proc/{pid}/fd')])
    told(f'{name} root', lambda: os.readlink(f'/proc/{pid}/root'))
    told(f'{name} attach', lambda: attach(pid))
    told(f'{name} readv', lambda: read_memory(pid))
    told(f'{name} take descriptor', lambda: call(libc.syscall(PIDFD_GETFD, os.pidfd_open(pid), 0, 0)))


def kill(name, pid, *signals):
    for each in signals:
        told(f'{name} SIG{each}', lambda: os.kill(pid, getattr(signal, f'SIG{each}')))


def command_of(pid):
    return open(f'/proc/{pid}/cmdline').read().split('\0')


agent = next(int(p) for p in os.listdir('/proc') if p.isdigit() and command_of(p)[0] == '/opt/belay/node')
look('agent', agent)
told('agent seize', lambda: seize(agent))
look('init', 1)
if os.getuid() != 0:
    kill('agent', agent, 'STOP', 'USR1', 'TERM', 'SEGV', 'KILL')
    kill('init', 1, 'STOP', 'USR1', 'TERM', 'KILL')
    told('agent priority', lambda: os.setpriority(os.PRIO_PROCESS, agent, 19))
    told('agent limits', lambda: call(libc.prlimit(agent, 7, (ctypes.c_ulong * 2)(3, 3), None)))

own = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
# While it begins, it opens and closes files.
own.stdin.write(b'begun\n')
own.stdin.flush()
own.stdout.readline()
look('own', own.pid)
told('own priority', lambda: os.setpriority(os.PRIO_PROCESS, own.pid, 19))
kill('own', own.pid, 'STOP', 'KILL')
own.wait()

listening = [line.split()[1] for line in open('/proc/net/tcp').readlines()[1:] if line.split()[3] == '0A']
print('inspector', 'OPEN' if any(address.endswith(f':{9229:04X}') for address in listening) else 'closed')
