import { programCalls, programServerCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import { readEnvironment } from '../environment.js';
import { separateFromPrograms } from '../user-separation.js';
import { killOthers } from './kill-others.js';
import { servePrograms } from './serve-programs.js';

/** How long the server may be away: another one has no use for this container. */
const awayTimeoutMs = 60_000;

const environment = readEnvironment();
const { connection: address, token, authority, user, shell, build } = environment;
separateFromPrograms(user);
begin().catch(fail);

async function begin(): Promise<void> {
  const sendChanges =
    build !== undefined
      ? await (await import('./changes-from-now.js')).changesFromNow(build, environment)
      : async () => {};
  const connection = dialRpc({
    address,
    token,
    authority,
    serves: programCalls,
    calls: programServerCalls,
  });
  // Outside of a container, the other processes are not its own.
  const killRest = process.ppid === 1 ? killOthers : async () => 0;
  servePrograms(connection, { imageEnvironment: shell, killRest });
  // The container ends with its first process, and with it all that still runs there.
  const end = (): void => process.exit();
  let away = setTimeout(end, awayTimeoutMs);
  connection.on('connected', () => clearTimeout(away));
  connection.on('disconnected', () => {
    clearTimeout(away);
    away = setTimeout(end, awayTimeoutMs);
  });
  connection.on('closed', () => {
    clearTimeout(away);
    sendChanges().then(end, fail);
  });
}

function fail(error: Error): void {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
