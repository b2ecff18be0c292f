import { z } from 'zod';
import type { CLibrary } from './agent-entry.js';
import claudeCode from './locks/claude-code.json';
import codex from './locks/codex.json';
import gemini from './locks/gemini.json';
import opencode from './locks/opencode.json';
import pi from './locks/pi.json';
import qwen from './locks/qwen.json';

export type Architecture = 'x64' | 'arm64';

const library = z.enum(['glibc', 'musl', 'none']);

const lockedPackage = z.object({
  /** The folder that it is unpacked into, below that of the agent. */
  path: z.string().regex(/^node_modules\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w@./-]+$/),
  name: z.string().regex(/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/),
  version: z.string().regex(/^[\w.+-]+$/),
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/),
  /** Of the package’s archive, in bytes. */
  size: z.int().positive(),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  libc: z.array(library).optional(),
});
export type LockedPackage = z.infer<typeof lockedPackage>;

/** The whole closure of an agent’s program and of what it is installed with; `tools/lock-agents.ts` writes it. */
export const agentLock = z.object({
  /** The program, then its ACP adapter or what else it needs, with their versions. */
  roots: z.record(z.string(), z.string()),
  /** The packages with programs or libraries for one processor; none of an agent in JavaScript alone. */
  platforms: z.record(z.string(), z.object({ libc: z.array(library).min(1) })),
  packages: z.array(lockedPackage).min(1),
});
export type AgentLock = z.infer<typeof agentLock>;

const files = { 'claude-code': claudeCode, codex, gemini, opencode, pi, qwen };

export const agentLocks: ReadonlyMap<string, AgentLock> = new Map(
  Object.entries(files).map(([name, file]) => [name, agentLock.parse(file)]),
);

/** `node_modules/a/node_modules/@b/c` is the folder of `@b/c`. */
export const nameOfPath = (path: string): string => path.split('node_modules/').at(-1) ?? '';

/** The version of the agent’s program. */
export const lockedVersion = ({ roots }: AgentLock): string => Object.values(roots)[0] ?? '';

/** Packages that belong in one volume: those of one processor, for images with one of these C libraries. */
export interface AgentVariant {
  libraries: readonly CLibrary[];
  packages: readonly LockedPackage[];
}

/** What to install for a processor: one variant if nothing depends on the C library; none if it is not supported. */
export function variantsOf({ platforms, packages }: AgentLock, arch: Architecture): AgentVariant[] {
  const shared = packages.filter(({ cpu }) => !cpu);
  if (Object.keys(platforms).length === 0)
    return [{ libraries: library.options, packages: shared }];
  return packages
    .filter(({ cpu }) => cpu?.includes(arch))
    .map((one) => ({ libraries: one.libc ?? [], packages: [...shared, one] }));
}
