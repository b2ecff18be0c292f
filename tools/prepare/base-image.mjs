import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptInstall, canInstall, findCommand } from './debian.mjs';
import { hostSettings } from './host-settings.mjs';
import { Instruction } from './steps.mjs';

const pulled = 'debian:bookworm-slim';
const made = 'belay/base:bookworm';

/**
 * The image that all others are based on: the given one, one that is present, pulled, or built from
 * Debian’s packages.
 */
export async function prepareBaseImage(docker, say) {
  const given = process.env.BELAY_BASE_IMAGE;
  for (const name of given ? [given] : [pulled, made])
    if (await docker.exists(`/images/${name}/json`)) return name;
  say(`pulling ${given ?? pulled}`);
  const failure = await pull(docker, given ?? pulled);
  if (!failure) return given ?? pulled;
  if (given)
    throw new Instruction(`BELAY_BASE_IMAGE ${given} cannot be pulled: ${failure.message}`);
  if (!findCommand('mmdebstrap')) {
    if (!canInstall())
      throw new Instruction(
        `${pulled} cannot be pulled (${failure.message}): load it into Docker, or set BELAY_BASE_IMAGE to an image of Debian 12.`,
      );
    await aptInstall('mmdebstrap');
  }
  say(`no hub answers, making it from Debian’s packages`);
  await make(docker);
  return made;
}

/** Silence for 20 seconds counts as no hub. */
function pull(docker, name) {
  const [, image, tag] = /^(.*?)(?::([^:/]+))?$/.exec(name);
  const query = new URLSearchParams({ fromImage: image, tag: tag ?? 'latest' });
  return docker.stream(`/images/create?${query}`, { timeout: 20_000 }).then(
    () => undefined,
    (error) => error,
  );
}

async function make(docker) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-base-'));
  try {
    const inherited = (path) => hostSettings().find((file) => file.path === path)?.content;
    const sources = join(folder, 'sources');
    writeFileSync(
      sources,
      inherited('host/apt/host.sources') ?? 'deb http://deb.debian.org/debian bookworm main\n',
    );
    const options = (inherited('host/apt/99host') ?? '').split('\n').filter(Boolean);
    const leaveOut = ['locale', 'doc', 'man'].map((name) => `path-exclude=/usr/share/${name}/*`);
    const child = spawn(
      findCommand('mmdebstrap'),
      [
        '--quiet',
        '--variant=minbase',
        '--include=ca-certificates',
        ...options.map((line) => `--aptopt=${line}`),
        ...leaveOut.map((line) => `--dpkgopt=${line}`),
        'bookworm',
        '-',
        sources,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    await importFrom(docker, child);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function importFrom(docker, child) {
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const ended = once(child, 'close');
  const untagged = new URLSearchParams({ fromSrc: '-', repo: 'belay/base', tag: 'making' });
  await docker.stream(`/images/create?${untagged}`, {
    body: child.stdout,
    type: 'application/x-tar',
  });
  const [code] = await ended;
  if (code !== 0) throw new Error(`mmdebstrap failed:\n${said.trim()}`);
  // Half an image must not pass for a whole one: the name comes last.
  await docker.post('/images/belay/base:making/tag?repo=belay/base&tag=bookworm');
  await docker.remove('/images/belay/base:making');
}
