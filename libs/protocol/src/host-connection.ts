import { z } from 'zod';
import { sandboxProfile } from './session.js';
import { check } from './setup.js';

/** Of a container or its files; part of file names on the machine. */
const id = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}$/);
const name = z.string().min(1).max(500);
const path = z.string().startsWith('/').max(4_096);
const sentence = z.string().max(2_000);
const texts = z.record(z.string().max(200), z.string().max(2 ** 16));
const limits = z.object({ memoryMb: z.number().positive(), cpus: z.number().positive() });
const nothing = z.object({});
const one = z.object({ id });

const container = z.object({
  id,
  label: name,
  labels: texts,
  image: name,
  limits,
});

/** `ContainerSpec` without folders of the machine, which a server cannot check. */
export const remoteContainer = container.extend({
  rights: sandboxProfile,
  env: texts,
  files: id,
  keptFiles: z.array(z.object({ name, path, readOnly: z.boolean() })).readonly(),
  placedFiles: z.array(z.object({ path, text: z.string().max(2 ** 20) })).readonly(),
});

/** `ProgramSpec`, also without folders. */
export const remoteProgram = container.extend({
  rights: z.enum(['program', 'build']),
  user: z.int().nonnegative(),
  scratch: z
    .array(z.object({ path, mb: z.number().positive(), readOnly: z.boolean() }))
    .readonly(),
  workspace: z.object({ files: id, readOnly: z.boolean() }).nullable(),
  services: z
    .array(
      z.object({
        name,
        image: name,
        command: z.array(z.string()).readonly().nullable(),
        env: texts,
        limits,
      }),
    )
    .readonly(),
  archive: z.instanceof(Uint8Array).nullable(),
  writtenMb: z.number().nonnegative(),
});

const containerState = z.enum(['waiting', 'running', 'ended', 'gone']);

/** A line of the stream `host.watch`. */
export const remoteSeen = z.union([
  z.literal('synced'),
  z.object({ id, state: containerState }),
]);

/** Calls of a server to another machine whose containers it uses: the methods of `ContainerHost`. */
export const hostCalls = {
  'host.checks': { input: nothing, output: z.object({ checks: z.array(check).max(100) }) },
  'host.start': { input: remoteContainer, output: nothing },
  'host.start-program': { input: remoteProgram, output: nothing },
  'host.adopt': { input: one, output: nothing },
  'host.look': {
    input: one,
    output: z.object({
      state: containerState,
      why: sentence.nullable(),
      cause: z.enum(['memory', 'written']).nullable(),
    }),
  },
  'host.rename': { input: one.extend({ label: name }), output: nothing },
  'host.browser': { input: one, output: z.object({ endpoint: z.url().max(1_000) }) },
  'host.has-browser': { input: one, output: z.object({ has: z.boolean() }) },
  'host.remove': { input: one, output: nothing },
  'host.stored-files': { input: nothing, output: z.object({ files: z.array(id).max(100_000) }) },
  'host.remove-files': { input: z.object({ files: id }), output: nothing },
  'host.image': { input: z.object({ image: name }), output: z.object({ id: name.nullable() }) },
  'host.image-path': {
    input: z.object({ image: name, paths: z.array(path).max(100).readonly() }),
    output: z.object({ path: path.nullable() }),
  },
  'host.fetch-image': {
    input: z.object({ image: name }),
    output: z.object({ fetched: z.boolean() }),
  },
  'host.make-image': {
    input: one.extend({ name, entrypoint: z.array(z.string()).readonly(), user: name }),
    output: z.object({ image: name }),
  },
  'host.made-images': { input: nothing, output: z.object({ images: z.array(name).max(10_000) }) },
  'host.remove-image': { input: z.object({ image: name }), output: nothing },
  'host.release-image': {
    input: z.object({ name }),
    output: z.object({ released: z.boolean() }),
  },
  'host.remove-kept': { input: z.object({ name }), output: nothing },
  'host.keep-only': { input: z.object({ names: z.array(name).readonly() }), output: nothing },
};

/** What a machine calls of its server for this: nothing. It opens streams `host.dial`. */
export const hostServerCalls = {};
