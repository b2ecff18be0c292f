import { access, constants, readdir, readFile, stat, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Handlers, OperationOutput, systemOperations } from '@belay/protocol';
import type { CallContext } from '../call-context.js';

export interface System {
  handlers: Handlers<typeof systemOperations, CallContext>;
  /** Looks beforehand at what `describe` tells of the machine. */
  prepare(): void;
  /** What a model is told of the sandbox; only what stays the same from run to run. */
  describe(): Promise<string>;
}

export interface SystemOptions {
  workspace: string;
  /** PATH of the sandbox's shells. */
  path: string;
}

const knownTools =
  'bash git python3 node npm pip uv make gcc go cargo java docker curl wget rg jq tar unzip sqlite3 chromium'.split(
    ' ',
  );
const listed = 60;

export function createSystem(options: SystemOptions): System {
  let machine: Promise<string> | undefined;
  return {
    prepare() {
      machine ??= describeMachine(options);
      machine.catch(() => (machine = undefined));
    },
    handlers: {
      'system.info': () => info(options),
      async 'system.time'() {
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        return { time: new Date().toISOString(), zone: timeZone };
      },
    },
    async describe() {
      const files = await listing(options.workspace);
      return `${await (machine ?? describeMachine(options))}\nFiles at the start: ${files}`;
    },
  };
}

async function describeMachine(options: SystemOptions): Promise<string> {
  const { os, architecture, user, workspace, tools } = await info(options);
  return [
    `System: ${os}, ${architecture}; you are ${user}. ${rights()}`,
    `Workspace: ${workspace}; the paths of the files operations are relative to it.`,
    `Tools: ${Object.keys(tools).sort().join(', ') || 'none of the usual ones'}.`,
  ].join('\n');
}

async function info({
  workspace,
  path,
}: SystemOptions): Promise<OperationOutput<(typeof systemOperations)['system.info']>> {
  const disk = await statfs(workspace);
  const tools = await Promise.all(knownTools.map(async (tool) => [tool, await which(tool, path)]));
  const memory = await memoryOf();
  return {
    os: await systemName(),
    architecture: process.arch,
    cpus: availableParallelism(),
    memoryBytes: memory.total,
    memoryUsedBytes: memory.used,
    diskFreeBytes: disk.bavail * disk.bsize,
    user: userName(),
    workspace,
    tools: Object.fromEntries(tools.filter(([, found]) => found !== null)),
  };
}

async function systemName(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(release)?.[1] ?? process.platform;
}

/** The limit and use of the control group, version 2 or 1; the machine's where there is none. */
async function memoryOf(): Promise<{ total: number; used: number }> {
  const group = '/sys/fs/cgroup';
  const limit =
    (await figure(`${group}/memory.max`)) ??
    (await figure(`${group}/memory/memory.limit_in_bytes`)) ??
    Number.POSITIVE_INFINITY;
  if (limit >= totalmem()) return { total: totalmem(), used: totalmem() - freemem() };
  const used =
    (await figure(`${group}/memory.current`)) ??
    (await figure(`${group}/memory/memory.usage_in_bytes`)) ??
    0;
  return { total: limit, used };
}

async function figure(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^\d+\s*$/.test(text) ? Number(text) : undefined;
}

/** Said once, so that nobody looks for a way that is closed: docs/sandboxes.md. */
function rights(): string {
  return process.getuid?.() === 0
    ? 'System packages can be installed.'
    : 'System packages cannot be installed: that takes a session started with the root profile.';
}

/** A user without an entry in passwd has a number only. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

async function which(tool: string, path: string): Promise<string | null> {
  for (const folder of path.split(':').filter(Boolean)) {
    const file = join(folder, tool);
    const found = await access(file, constants.X_OK)
      .then(() => stat(file))
      .catch(() => null);
    if (found?.isFile()) return file;
  }
  return null;
}

async function listing(workspace: string): Promise<string> {
  const entries = await readdir(workspace, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter(({ name }) => name !== '.git')
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  if (names.length === 0) return 'none, the workspace is empty.';
  const more = names.length > listed ? ` and ${names.length - listed} more` : '';
  return `${names.slice(0, listed).join(', ')}${more}.`;
}
