import { posix } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { Unsupported } from '../model.js';
import { commandLine, duration, memory, scalar, variableMap } from './compose-values.js';
import { shownName } from './shown-name.js';

/**
 * The part of the Compose Specification that services of tasks may use
 * (https://github.com/compose-spec/compose-spec). Keys that cannot matter here are read over; any other
 * key is refused, because a service that starts differently makes a different task.
 */

/** Ports are not published, and a container is removed with its trial. */
const withoutEffect = {
  cap_drop: z.unknown(),
  expose: z.unknown(),
  init: z.unknown(),
  labels: z.unknown(),
  logging: z.unknown(),
  platform: z.unknown(),
  ports: z.unknown(),
  pull_policy: z.unknown(),
  restart: z.unknown(),
  stdin_open: z.unknown(),
  stop_grace_period: z.unknown(),
  stop_signal: z.unknown(),
  tty: z.unknown(),
};
const optional = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  z.object(shape).partial().shape;

const conditions = {
  service_started: 'started',
  service_healthy: 'healthy',
  service_completed_successfully: 'completed',
} as const;

const needs = z.union([
  z
    .array(z.string())
    .transform((names) =>
      Object.fromEntries(names.map((name) => [name, conditions.service_started])),
    ),
  z.record(
    z.string(),
    z
      .object({
        condition: z
          .enum(['service_started', 'service_healthy', 'service_completed_successfully'])
          .default('service_started'),
      })
      .transform(({ condition }) => conditions[condition]),
  ),
]);

const healthcheck = z
  .strictObject({
    test: z
      .union([z.string().transform((text) => ['CMD-SHELL', text]), z.array(z.string())])
      .optional(),
    interval: duration.default(30),
    timeout: duration.default(30),
    start_period: duration.default(0),
    start_interval: duration.optional(),
    retries: z.coerce.number().int().default(3),
    disable: z.boolean().default(false),
  })
  .transform(({ test, interval, timeout, start_period: startPeriod, retries, disable }) => ({
    test,
    interval,
    timeout,
    startPeriod,
    retries,
    disable,
  }));

const build = z.union([
  z.string().transform((context) => ({ context, dockerfile: 'Dockerfile', args: {} })),
  z.strictObject({
    context: z.string().default('.'),
    dockerfile: z.string().default('Dockerfile'),
    args: variableMap.default({}),
    target: z.string().optional(),
  }),
]);

/** `SOURCE:TARGET`, with options after it, or the long form. */
const volume = z.union([
  z
    .string()
    .regex(/^[^:]+(:[^:]+){0,2}$/)
    .transform((text) => {
      const [source = '', target] = text.split(':');
      return target === undefined ? { source: null, target: source } : { source, target };
    }),
  z
    .object({ source: z.string().nullable().default(null), target: z.string() })
    .transform(({ source, target }) => ({ source, target })),
]);

/** By name, with the further host names that a service has in it. */
const networks = z
  .union([
    z.array(z.string()).transform((all) => Object.fromEntries(all.map((name) => [name, []]))),
    z.record(
      z.string(),
      z
        .object({ aliases: z.array(z.string()).default([]) })
        .nullable()
        .transform((given) => given?.aliases ?? []),
    ),
  ])
  .default({ default: [] });

const names = {
  container_name: z.string().optional(),
  hostname: z.string().optional(),
  networks,
};

const limits = z
  .strictObject({
    resources: z
      .strictObject({
        reservations: z
          .strictObject({ cpus: z.unknown(), memory: z.unknown() })
          .partial()
          .optional(),
        limits: z
          .object({ memory: memory.optional(), cpus: z.coerce.number().optional() })
          .prefault({}),
      })
      .prefault({}),
  })
  .transform(({ resources }) => resources.limits);

const service = z.strictObject({
  ...optional(withoutEffect),
  ...names,
  image: z.string().optional(),
  build: build.optional(),
  entrypoint: commandLine.nullable().default(null),
  command: commandLine.nullable().default(null),
  environment: variableMap.default({}),
  depends_on: needs.default({}),
  healthcheck: healthcheck.optional(),
  user: scalar.optional(),
  working_dir: z.string().optional(),
  volumes: z.array(volume).default([]),
  mem_limit: memory.optional(),
  cpus: z.coerce.number().optional(),
  deploy: limits.optional(),
});
export type ComposeService = z.infer<typeof service>;

const mainImage = 'main';

/** The container of the agent. Its image, its limits and how it starts are as task.toml says. */
const main = z
  .strictObject({
    ...optional(withoutEffect),
    ...names,
    image: z.literal(mainImage).optional(),
    build: build
      .refine(({ context, dockerfile }) => posix.join(context, dockerfile) === 'Dockerfile')
      .optional(),
    deploy: limits.optional(),
    environment: variableMap.default({}),
    depends_on: needs.default({}),
    command: commandLine
      .refine((given) => given.join(' ') === 'sleep infinity', 'changes how it starts')
      .optional(),
  })
  .prefault({});

const composeFile = z.strictObject({
  ...optional({
    name: z.unknown(),
    version: z.unknown(),
    networks: z.unknown(),
    volumes: z.unknown(),
  }),
  services: z
    .record(z.string().regex(/^[\w.-]{1,63}$/), z.unknown())
    .transform(({ main: own, ...others }) => ({ main: own ?? {}, others })),
});

export interface ComposeFile {
  main: z.infer<typeof main>;
  /** Without `main`. */
  services: Record<string, ComposeService>;
}

/** What Harbor's own variables stand for in a task's file. */
export interface MainLimits {
  cpus: number;
  memoryMb: number;
}

/** Reads a compose file; throws `Unsupported` with one sentence for what cannot be done here. */
export function readCompose(text: string, { cpus, memoryMb }: MainLimits): ComposeFile {
  const values = {
    COMPOSE_PROJECT_NAME: 'task',
    CONTEXT_DIR: '.',
    MAIN_IMAGE_NAME: mainImage,
    CPUS: String(cpus),
    MEMORY: `${memoryMb}M`,
  };
  const given = withoutExtensions(contentOf(text, values));
  const { services } = checked(composeFile, given, 'The file');
  return {
    main: checked(main, services.main, 'The service main'),
    services: Object.fromEntries(
      Object.entries(services.others).map(([name, of]) => [
        name,
        checked(service, of, `The service ${name}`),
      ]),
    ),
  };
}

function checked<Shape extends z.ZodType>(
  shape: Shape,
  given: unknown,
  what: string,
): z.infer<Shape> {
  const found = shape.safeParse(given);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const path = issue?.path.map(String) ?? [];
  throw new Unsupported(
    issue?.code === 'unrecognized_keys'
      ? `${what} sets ${issue.keys.map((key) => shown([...path, key])).join(', ')}, which is not supported here.`
      : `${what} has ${path.length > 0 ? shown(path) : 'its content'} in a form that is not supported here.`,
  );
}

const shown = (path: string[]): string => shownName(path.join('.'));

function contentOf(text: string, values: Variables): unknown {
  try {
    return interpolated(parse(text, { logLevel: 'error', merge: true }), values);
  } catch (error) {
    throw error instanceof Unsupported ? error : new Unsupported('It is not valid YAML.');
  }
}

/** `x-…` holds parts that others refer to. */
const withoutExtensions = (given: unknown): unknown =>
  given === null || typeof given !== 'object' || Array.isArray(given)
    ? given
    : Object.fromEntries(Object.entries(given).filter(([key]) => !key.startsWith('x-')));

type Variables = Readonly<Record<string, string>>;

/** Replaces variables in every text; none comes from the host. */
function interpolated(given: unknown, values: Variables): unknown {
  if (typeof given === 'string')
    return given.replaceAll(
      /\$(?:\$|(\w+)|\{(\w+)(?::?-([^}]*))?\})/g,
      (all, plain?: string, braced?: string, otherwise?: string) => {
        if (all === '$$') return '$';
        const name = plain ?? braced ?? '';
        const value = Object.hasOwn(values, name) ? values[name] : otherwise;
        if (value === undefined)
          throw new Unsupported(`It needs ${name} from the host, which tasks do not get.`);
        return value;
      },
    );
  if (Array.isArray(given)) return given.map((each) => interpolated(each, values));
  if (given === null || typeof given !== 'object') return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, interpolated(value, values)]),
  );
}
