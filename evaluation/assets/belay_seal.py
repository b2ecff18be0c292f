# For `pytest -p belay_seal`. prctl(PR_SET_DUMPABLE, 0) prevents other processes in the container
# from reading this one's memory: root has no CAP_SYS_PTRACE there either.
import ctypes, hashlib, hmac, json, os, base64, zlib
def _plugin():
    try:
        with open('/verify-seal/key', 'rb') as key:
            seal = hmac.new(key.read(), digestmod=hashlib.sha256)
        os.unlink('/verify-seal/key')
    except OSError:
        return None
    try:
        ctypes.CDLL(None).prctl(4, 0)
    except Exception:
        pass
    try:
        log = os.open('/proc/1/fd/1', os.O_WRONLY)
    except OSError:
        log = os.dup(1)
    write, dumps, compress, encode = os.write, json.dumps, zlib.compress, base64.b64encode
    tests, errors = {}, []
    class Plugin:
        def pytest_runtest_logreport(self, report):
            name = report.nodeid
            if report.failed:
                tests[name] = 'FAILED'
            elif report.skipped:
                tests.setdefault(name, 'XFAIL' if hasattr(report, 'wasxfail') else 'SKIPPED')
            elif report.when == 'call':
                tests.setdefault(name, 'XFAIL' if hasattr(report, 'wasxfail') else 'PASSED')
        def pytest_collectreport(self, report):
            if report.failed:
                errors.append(report.nodeid)
        def pytest_sessionfinish(self, session, exitstatus):
            text = encode(compress(dumps({'tests': tests, 'errors': len(errors)}).encode()))
            sealed = seal.copy()
            sealed.update(text)
            line = ('\nbelay-seal ' + sealed.hexdigest() + ' ').encode() + text + b'\n'
            while line:
                line = line[write(log, line):]
    return Plugin()
_made = _plugin()
del _plugin
def pytest_configure(config):
    global _made
    if _made:
        config.pluginmanager.register(_made, 'belay-sealing')
    _made = None
