import { containerOf } from '@belay/testkit';

/** The commands of a sandbox’s processes, one a line. */
export const commandsIn = (session: string): Promise<string> =>
  inSandbox(session, `for (const { command } of processes) console.log(command);`);

/** Kills the processes whose command contains a text, and returns their number. */
export async function killProcesses(session: string, text: string): Promise<number> {
  const killed = await inSandbox(
    session,
    `const wanted = processes.filter(({ command }) => command.includes(process.argv[1]));
    for (const { pid } of wanted)
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // It may have ended with one before it.
        if (error.code !== 'ESRCH') throw error;
      }
    console.log(String(wanted.length));`,
    text,
  );
  return Number(killed);
}

/** The most memory in MiB that any process of a sandbox had so far. */
export async function peakMemory(session: string): Promise<number> {
  const peaks = await inSandbox(
    session,
    `for (const { pid } of processes)
      try {
        console.log(/VmHWM:\\s+(\\d+)/.exec(fs.readFileSync('/proc/' + pid + '/status', 'utf8'))[1]);
      } catch {}`,
  );
  return Math.max(...peaks.split('\n').map(Number)) / 1024;
}

/**
 * Where programs of a sandbox find a text: in files that are not the image’s, and in environments and commands of
 * processes.
 */
export const placesOf = (session: string, text: string): Promise<string> =>
  inSandbox(
    session,
    `const look = (path) => {
      try {
        const stat = fs.lstatSync(path);
        if (stat.isDirectory()) for (const name of fs.readdirSync(path)) look(path + '/' + name);
        else if (stat.isFile() && fs.readFileSync(path).includes(process.argv[1])) console.log(path);
      } catch {}
    };
    for (const path of ['/dev/shm', '/etc', '/home', '/opt/belay', '/root', '/run', '/tmp', '/var', '/workspace'])
      look(path);
    for (const { pid } of processes) for (const name of ['environ', 'cmdline']) look('/proc/' + pid + '/' + name);`,
    text,
  );

/** The names in a folder of a sandbox. */
export const namesIn = async (session: string, folder: string): Promise<string[]> =>
  (
    await inSandbox(
      session,
      `for (const name of fs.readdirSync(process.argv[1])) console.log(name);`,
      folder,
    )
  ).split('\n');

/** The text of the newest file below a folder of a sandbox whose name ends like this. */
export async function newestText(session: string, folder: string, end: string): Promise<string> {
  const encoded = await inSandbox(
    session,
    `const [root, end] = process.argv.slice(1);
    const files = fs
      .readdirSync(root, { recursive: true })
      .filter((path) => path.endsWith(end))
      .map((path) => ({ path: root + '/' + path, changed: fs.statSync(root + '/' + path).mtimeMs }))
      .sort((a, b) => b.changed - a.changed);
    console.log(fs.readFileSync(files[0].path).toString('base64'));`,
    folder,
    end,
  );
  return Buffer.from(encoded, 'base64').toString();
}

/** The user of all programs; not even root may end or read processes of others there. */
const programUser = '1000';

/** Runs a script of Node in a sandbox beside its programs; returns what it prints. */
async function inSandbox(session: string, script: string, ...args: string[]): Promise<string> {
  const container = await containerOf(session);
  const exec = await container.exec({
    Cmd: ['/opt/belay/node', '-e', `${processes}${script}`, ...args],
    User: programUser,
    AttachStdout: true,
    AttachStderr: true,
    Tty: true,
  });
  const output = await exec.start({ Tty: true });
  let text = '';
  for await (const bytes of output) text += String(bytes);
  return text.replaceAll('\r\n', '\n').trim();
}

/** All processes but that of the script. */
const processes = `
  const fs = require('node:fs');
  const processes = fs.readdirSync('/proc').map(Number).flatMap((pid) => {
    if (!pid || pid === process.pid) return [];
    try {
      return { pid, command: fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').replaceAll('\\0', ' ') };
    } catch {
      return [];
    }
  });
`;
