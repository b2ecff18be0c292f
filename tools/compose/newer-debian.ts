import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { canInstall } from '../prepare/debian.mjs';
import { runProgram } from '../prepare/run-program.mjs';
import { Instruction } from '../prepare/steps.mjs';
import { cacheFolder } from '../product-node.mjs';

/** Debian 13: Compose 2.26 and Engine 26. */
const release = 'trixie';
const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * The files of a package of a newer Debian, unpacked once into the cache and not installed: returns their folder. Throws
 * an instruction where there is no apt.
 */
export async function newerDebian(name: string, say: (what: string) => void): Promise<string> {
  const folder = join(cacheFolder, `${release}-${name}`);
  if (existsSync(folder)) return folder;
  if (!canInstall())
    throw new Instruction(
      `This needs ${name} from Debian’s packages, so it runs on Debian as root.`,
    );
  say(`fetching ${name} of Debian ${release}`);
  mkdirSync(cacheFolder, { recursive: true });
  const scratch = mkdtempSync(join(cacheFolder, 'fetching-'));
  // For apt’s own user.
  chmodSync(scratch, 0o755);
  try {
    const own = (part: string): string => join(scratch, part);
    writeFileSync(
      own('sources.list'),
      `deb [signed-by=${keys}] http://deb.debian.org/debian ${release} main\n`,
    );
    mkdirSync(own('lists'));
    // The machine’s lists and choice of packages stay as they are; its proxies apply.
    const settings = {
      'Dir::Etc::SourceList': own('sources.list'),
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::State::Lists': own('lists'),
      'Dir::Cache': own('cache'),
    };
    const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
    const apt = (...args: string[]) =>
      runProgram('apt-get', ['-qq', ...options, ...args], { cwd: scratch });
    await apt('update');
    await apt('download', name);
    await runProgram('sh', ['-c', `dpkg-deb --extract ${name}_*.deb unpacked`], { cwd: scratch });
    renameSync(own('unpacked'), folder);
    return folder;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
