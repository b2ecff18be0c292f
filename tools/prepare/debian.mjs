import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runProgram } from './run-program.mjs';

/** Whether packages can be installed without asking: as root on Debian, Ubuntu or a derivative. */
export function canInstall() {
  return process.getuid?.() === 0 && isDebianLike() && findCommand('apt-get') !== undefined;
}

let last = Promise.resolve();

/** Installations run in sequence, because apt refuses concurrent ones. */
export function aptInstall(...packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = async () => {
    await runProgram('apt-get', ['update', '-qq'], { env });
    await runProgram('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
      env,
    });
  };
  return (last = last.then(install, install));
}

export function findCommand(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isDebianLike() {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}
