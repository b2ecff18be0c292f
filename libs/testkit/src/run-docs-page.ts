import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prepared, repositoryRoot } from './environment.js';

/** A fenced code block of a page. */
interface Block {
  language: string;
  /** The word after the language: the name under which the reader saves the file. */
  file: string | undefined;
  line: number;
  text: string;
}

export interface PageRun {
  code: number | null;
  /** The output of all blocks. */
  output: string;
  /** The line of the page with the opening fence of the last block that was started. */
  line: number;
}

export interface PageOptions {
  /** The variables that the reader has set, such as BELAY_URL and BELAY_TOKEN. */
  environment: Record<string, string>;
  /** Time limit for the whole page, in milliseconds. */
  timeoutMs?: number;
}

/**
 * Follows a page of `docs/` as a reader would, in an empty folder: saves each fenced block that
 * names a file (such as `python drive.py`), and runs the `sh` blocks in one shell that ends at the
 * first failure. `belay`, and those of curl, jq and python3 that this machine lacks, are on its
 * path. Blocks in other languages are ignored.
 */
export async function runDocsPage(page: string, options: PageOptions): Promise<PageRun> {
  const folder = mkdtempSync(join(tmpdir(), 'belay-docs-'));
  try {
    const blocks = blocksOf(readFileSync(join(repositoryRoot, 'docs', page), 'utf8'));
    const tools = makeTools(folder, Object.keys(options.environment));
    installPackages(folder);
    for (const { file, text } of blocks) if (file) writeFileSync(join(folder, file), text);
    const script = blocks
      .filter(({ language, file }) => language === 'sh' && !file)
      .map(({ line, text }) => `echo "${mark}${line}"\n${text}`)
      .join('\n');
    return await shell(script, { ...options, folder, tools });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The fenced code blocks of Markdown, except those in lists and quotes. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(\S*)(?: (\S+))?\s*$/.exec(line);
    if (open && line.trimEnd() === '```') {
      blocks.push(open);
      open = undefined;
    } else if (open) open.text += `${line}\n`;
    else if (fence) open = { language: fence[1] ?? '', file: fence[2], line: index + 1, text: '' };
  }
  return blocks;
}

const mark = '::docs-block ';

async function shell(
  script: string,
  run: PageOptions & { folder: string; tools: string },
): Promise<PageRun> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: run.folder,
    env: {
      ...process.env,
      ...run.environment,
      PATH: `${run.tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // A background program of a pipeline would otherwise keep the output open.
  const late = setTimeout(() => {
    // Without a pid, the signal would reach the group of this process.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, run.timeoutMs ?? 200_000);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  clearTimeout(late);
  const lines = [...text.matchAll(new RegExp(`${mark}(\\d+)`, 'g'))].map(([, line]) => line);
  return {
    code,
    output: text.replaceAll(new RegExp(`${mark}\\d+\n`, 'g'), ''),
    line: Number(lines.at(-1) ?? 0),
  };
}

/**
 * The packages that a page tells its reader to install for generated clients, linked from this
 * checkout.
 */
function installPackages(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers'])
    symlinkSync(join(repositoryRoot, 'node_modules', name), join(modules, name));
  const generator = join(repositoryRoot, 'libs/testkit/node_modules/openapi-typescript/bin/cli.js');
  symlinkSync(generator, join(modules, '.bin/openapi-typescript'));
}

/**
 * A folder with the built command line, and with tools of the sandbox’s image that this machine
 * lacks.
 */
function makeTools(folder: string, variables: readonly string[]): string {
  const tools = join(folder, '.tools');
  mkdirSync(tools);
  const program = (name: string, command: string): void =>
    writeFileSync(join(tools, name), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  program('belay', `'${process.execPath}' '${join(repositoryRoot, 'apps/cli/bin/belay.mjs')}'`);
  program('node', `'${process.execPath}'`);
  for (const name of ['curl', 'jq', 'python3']) {
    if (spawnSync(name, ['--version']).status === 0) continue;
    const given = variables.map((variable) => `-e ${variable}`).join(' ');
    const mount = `-v '${folder}:${folder}' -w '${folder}' --user 0`;
    const image = prepared('BELAY_TEST_IMAGE');
    program(
      name,
      `docker run --rm -i --network host ${mount} ${given} --entrypoint ${name} ${image}`,
    );
  }
  return tools;
}
