import { z } from 'zod';
import type { Contract } from './agent-connection.js';
import { imageReference } from './image-reference.js';
import { nameOnMachine } from './machines.js';
import { sandboxProfile } from './session.js';
import { check } from './setup.js';

const variables = z.record(z.string().regex(/^[A-Za-z_]\w{0,99}$/), z.string().max(2 ** 16));
const limits = z.object({ memoryMb: z.number().positive(), cpus: z.number().positive() });
const label = z.string().max(300);
/** In the container. */
const path = z.string().startsWith('/').max(1_000);
const file = z.object({ path, text: z.string().max(2 ** 20) });
const nothing = z.object({});
const container = z.object({ id: nameOnMachine });
const state = z.enum(['waiting', 'running', 'ended', 'gone']);
/** The labels that a server may give its containers; the machine adds those that say whose they are. */
const labels = z.strictObject({
  'belay.session': label.optional(),
  'belay.epoch': label.optional(),
  'belay.action': label.optional(),
});

const agentContainer = container.extend({
  label,
  labels,
  /** Null for the machine’s own. */
  image: imageReference.nullable(),
  rights: sandboxProfile,
  env: variables,
  files: nameOnMachine,
  keptFiles: z.array(z.object({ name: nameOnMachine, path, readOnly: z.boolean() })).max(20),
  placedFiles: z.array(file).max(20),
});

const programContainer = container.extend({
  label,
  labels,
  image: imageReference.nullable(),
  rights: z.enum(['program', 'build']),
  user: z.int().nonnegative(),
  limits,
  scratch: z
    .array(z.object({ path, mb: z.number().positive(), readOnly: z.boolean().optional() }))
    .max(20),
  workspace: z.object({ files: nameOnMachine, readOnly: z.boolean() }).nullable(),
  services: z
    .array(
      z.object({
        name: nameOnMachine,
        image: imageReference,
        command: z.array(z.string()).max(1_000).optional(),
        env: variables,
        limits,
      }),
    )
    .max(20),
  archive: z.instanceof(Uint8Array).nullable(),
  writtenMb: z.number().nonnegative(),
});

/**
 * Calls of a server to a machine that makes containers: those of `ContainerHost`. Names are the server’s own, which the
 * machine keeps apart from all others; limits, the default image and the images that may be used are the machine’s.
 */
export const hostCalls = {
  'host.checks': { input: nothing, output: z.object({ checks: z.array(check).max(100) }) },
  'host.start': { input: agentContainer, output: nothing },
  'host.startProgram': { input: programContainer, output: nothing },
  /** Reports all containers, and then their changes, with `host.seen`; returns when the machine’s engine is away. */
  'host.watch': { input: z.object({ watch: z.string().max(100) }), output: nothing },
  'host.look': {
    input: container,
    output: z.object({
      state,
      why: z.string().max(2_000).nullable(),
      cause: z.enum(['memory', 'written']).nullable(),
    }),
  },
  'host.rename': { input: container.extend({ label }), output: nothing },
  'host.browser': { input: container, output: z.object({ endpoint: z.string().max(1_000) }) },
  'host.hasBrowser': { input: container, output: z.object({ has: z.boolean() }) },
  'host.remove': { input: container, output: nothing },
  'host.hasFiles': {
    input: z.object({ files: nameOnMachine }),
    output: z.object({ has: z.boolean() }),
  },
  'host.storedFiles': {
    input: nothing,
    output: z.object({ files: z.array(nameOnMachine).max(100_000) }),
  },
  'host.removeFiles': { input: z.object({ files: nameOnMachine }), output: nothing },
  /** Fills files with this name from the stream `host.fill`, and fails once nothing is left of those that cannot be. */
  'host.fill': { input: z.object({ name: nameOnMachine, fill: z.uuid() }), output: nothing },
  'host.removeKeptFiles': { input: z.object({ name: nameOnMachine }), output: nothing },
  'host.keepOnlyFiles': {
    input: z.object({ names: z.array(nameOnMachine).max(10_000) }),
    output: nothing,
  },
  /** Null for an image that is not there, or may not be used. */
  'host.imageId': {
    input: z.object({ image: imageReference.nullable() }),
    output: z.object({ id: z.string().max(500).nullable() }),
  },
  /** False for an image that may not be used. */
  'host.hasImage': {
    input: z.object({ image: imageReference.nullable() }),
    output: z.object({ has: z.boolean() }),
  },
  'host.firstPath': {
    input: z.object({ image: imageReference.nullable(), paths: z.array(path).max(1_000) }),
    output: z.object({ path: path.nullable() }),
  },
  'host.fetchImage': {
    input: z.object({ image: imageReference.nullable() }),
    output: z.object({ fetched: z.boolean() }),
  },
} satisfies Contract;

/** Calls of such a machine to its server. */
export const hostServerCalls = {
  /** What a `host.watch` has seen, in order; `synced` once all containers were reported. */
  'host.seen': {
    input: z.object({
      watch: z.string().max(100),
      seen: z.union([z.literal('synced'), z.object({ id: nameOnMachine, state })]),
    }),
    output: nothing,
  },
} satisfies Contract;
