import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import {
  excerpt,
  maxListedPorts,
  visibleText,
  type Handlers,
  type OperationOutput,
  type systemOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { allows, X_OK } from '../permissions.js';
import { memoryFolderBytes, readLimits } from './read-limits.js';

export interface System {
  handlers: Handlers<typeof systemOperations, CallContext>;
  /** Reads machine data for `describe` in advance. */
  prepare(): void;
  /** The sandbox’s description for a model, without anything that changes between runs. */
  describe(): Promise<string>;
}

export interface SystemOptions {
  workspace: string;
  /** The PATH of the sandbox’s shells. */
  path: string;
  /** The ports with a listening program, lowest first. */
  ports(): number[];
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
      async 'system.ports'() {
        return { ports: options.ports().slice(0, maxListedPorts) };
      },
      async 'system.time'() {
        return { time: new Date().toISOString(), zone: timeZone() };
      },
    },
    async describe() {
      const files = await listing(options.workspace);
      return [
        `Date: ${new Date().toISOString().slice(0, 10)} (time zone ${timeZone()}).`,
        await (machine ?? describeMachine(options)),
        `Files at the start: ${files}`,
      ].join('\n');
    },
  };
}

/** Intl takes ten milliseconds for its first result, during a session’s first prompt; most sandboxes can avoid it. */
export function timeZone(now = new Date().toString()): string {
  if (now.endsWith('(Coordinated Universal Time)')) return 'UTC';
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A folder for files that are not part of the work; removed with the container. */
const scratch = '/tmp';

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

async function describeMachine(options: SystemOptions): Promise<string> {
  const { os, architecture, cpus, memoryBytes, user, workspace, tools } = await info(options);
  const scratchBytes = await memoryFolderBytes(scratch);
  const scratchLimit =
    scratchBytes === null ? '' : ` (at most ${mebibytes(scratchBytes)}, of that memory)`;
  return [
    `System: ${os}, ${architecture}; you are ${user}. ${rights()}`,
    `Limits: ${Number(cpus.toFixed(2))} processors, ${mebibytes(memoryBytes)} of memory, whatever nproc and free say; a program that takes more memory is killed.`,
    `Workspace: ${workspace}; the paths of the files operations are relative to it. What is not part of the result belongs in ${scratch}${scratchLimit}.`,
    `Tools: ${Object.keys(tools).sort().join(', ') || 'none of the usual ones'}.`,
  ].join('\n');
}

async function info({ workspace, path }: SystemOptions): Promise<OperationOutput<'system.info'>> {
  const disk = await statfs(workspace);
  const tools = await Promise.all(knownTools.map(async (tool) => [tool, await which(tool, path)]));
  const { cpus, memoryBytes, memoryUsedBytes } = await readLimits();
  return {
    os: await systemName(),
    architecture: process.arch,
    cpus,
    memoryBytes,
    memoryUsedBytes,
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

/** States the restrictions once: docs/sandboxes.md. */
function rights(): string {
  return process.geteuid?.() === 0
    ? 'System packages can be installed.'
    : 'System packages cannot be installed: that takes a session started with the root profile.';
}

/** A user without an entry in passwd has only a number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.geteuid?.() ?? 'unknown'}`;
  }
}

async function which(tool: string, path: string): Promise<string | null> {
  for (const folder of path.split(':').filter(Boolean)) {
    const file = join(folder, tool);
    const found = await stat(file).catch(() => null);
    if (found?.isFile() && allows(found, X_OK)) return file;
  }
  return null;
}

/** Quotes a name that could be mistaken for text of the platform. */
const quotedName = (name: string): string =>
  /^[\w.@+-]{1,80}\/?$/.test(name) ? name : JSON.stringify(excerpt(visibleText(name), 80));

async function listing(workspace: string): Promise<string> {
  const entries = await readdir(workspace, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter(({ name }) => name !== '.git')
    .map((entry) => quotedName(entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  if (names.length === 0) return 'none, the workspace is empty.';
  const more = names.length > listed ? ` and ${names.length - listed} more` : '';
  return `${names.slice(0, listed).join(', ')}${more}.`;
}
