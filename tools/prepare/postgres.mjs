import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { aptInstall, canInstall, findCommand } from './debian.mjs';
import { Instruction } from './steps.mjs';

/** PostgreSQL for the tests, which start their own servers; returns the folder of its programs. */
export async function preparePostgres(say, { install = true } = {}) {
  const found = find();
  if (found) return found;
  if (!install || !canInstall())
    throw new Instruction(
      'The tests need PostgreSQL: install it (on Debian: apt-get install postgresql) or set BELAY_TEST_POSTGRES to the folder of its programs.',
    );
  say('installing Debian’s postgresql');
  await aptInstall('postgresql-common');
  makeNoCluster();
  await aptInstall('postgresql');
  return find();
}

/** By default, Debian would start a server for the whole machine. */
function makeNoCluster(file = '/etc/postgresql-common/createcluster.conf') {
  mkdirSync(dirname(file), { recursive: true });
  const settings = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const kept = settings.replace(/^#?create_main_cluster.*\n?/m, '');
  writeFileSync(file, `${kept}create_main_cluster = false\n`);
}

function find() {
  if (process.env.BELAY_TEST_POSTGRES) return process.env.BELAY_TEST_POSTGRES;
  const initdb = findCommand('initdb');
  // A link to a program is not in the same folder as the files that it needs.
  const folder = initdb && dirname(realpathSync(initdb));
  if (folder && existsSync(join(folder, 'postgres'))) return folder;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const [newest] = versions.toSorted((a, b) => Number(b) - Number(a));
  const bin = newest && join(debian, newest, 'bin');
  return bin && existsSync(join(bin, 'postgres')) ? bin : undefined;
}
