import { createHash } from 'node:crypto';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError } from '@belay/protocol';
import { z } from 'zod';

const blankIsUnset = (value: unknown): unknown => (value === '' ? undefined : value);
const text = z.preprocess(blankIsUnset, z.string().optional());
const url = z.preprocess(blankIsUnset, z.url().optional());
const count = (usual: number, least = 0) =>
  z.preprocess(blankIsUnset, z.coerce.number().int().min(least).default(usual));

const environment = z.object({
  BELAY_HOST: z.preprocess(blankIsUnset, z.string().default('127.0.0.1')),
  BELAY_PORT: z.preprocess(blankIsUnset, z.coerce.number().int().min(0).max(65_535).default(4600)),
  BELAY_DATA: text,
  BELAY_IMAGE: z.preprocess(blankIsUnset, z.string().default('belay/sandbox:latest')),
  BELAY_RUNTIME: z.preprocess(blankIsUnset, z.string().default('belay-runtime')),
  BELAY_SIDECAR: text,
  BELAY_POOL: count(2),
  BELAY_MAX_SANDBOXES: count(20, 1),
  BELAY_MEMORY_MB: count(2048, 64),
  BELAY_CPUS: z.preprocess(blankIsUnset, z.coerce.number().positive().default(2)),
  BELAY_SITE: text,
  BELAY_EXAMPLES: text,
  BELAY_LOG_LEVEL: z.preprocess(
    blankIsUnset,
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  ),
  BELAY_SEARCH_URL: url,
  BELAY_ALLOWED_HOSTS: z.preprocess(blankIsUnset, z.string().default('')),
  DATABASE_URL: url,
  // Sandboxes reach the server by a socket in a folder of this machine: an engine elsewhere has no such folder.
  DOCKER_HOST: z.preprocess(
    blankIsUnset,
    z
      .string()
      .startsWith(
        'unix://',
        'Belay needs an engine on this machine, as unix:///var/run/docker.sock',
      )
      .optional(),
  ),
  XDG_DATA_HOME: text,
  XDG_RUNTIME_DIR: text,
  OPENAI_API_KEY: text,
  OPENAI_BASE_URL: url,
  ANTHROPIC_API_KEY: text,
  ANTHROPIC_BASE_URL: url,
  GOOGLE_GENERATIVE_AI_API_KEY: text,
  GOOGLE_BASE_URL: url,
  OPENAI_COMPATIBLE_API_KEY: text,
  OPENAI_COMPATIBLE_BASE_URL: url,
});

export interface ProviderConfig {
  readonly key: string | undefined;
  readonly url: string | undefined;
}

/** What the environment says, parsed once at the start. The only place of the server that reads it. */
export class Config {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly data: string;
  /** Differs for every data folder: what belongs to this server carries it as a label. */
  readonly instance: string;
  /** Folder of Unix sockets; short, for a socket's path has at most 107 bytes. */
  readonly runtimeFolder: string;
  readonly image: string;
  readonly runtimeVolume: string;
  readonly sidecarImage: string;
  readonly pool: number;
  readonly maxSandboxes: number;
  readonly memoryMb: number;
  readonly cpus: number;
  readonly site: string | undefined;
  readonly examples: string | undefined;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly searchUrl: string | undefined;
  /** Names, besides loopback and `host`, under which the server may be addressed. */
  readonly allowedHosts: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly dockerHost: string | undefined;
  readonly providers: {
    readonly openai: ProviderConfig;
    readonly anthropic: ProviderConfig;
    readonly google: ProviderConfig;
    readonly 'openai-compatible': ProviderConfig;
  };
  /** Everything that was set, for what asks the host about proxies and package registries. */
  readonly environment: Readonly<Record<string, string | undefined>>;

  /** Throws an AppError that names the variable when one cannot be read. */
  constructor(env: Record<string, string | undefined> = process.env) {
    const set = parse(env);
    this.environment = env;
    this.host = set.BELAY_HOST;
    this.port = set.BELAY_PORT;
    const dataHome = set.XDG_DATA_HOME ?? join(homedir(), '.local', 'share');
    this.data = resolve(set.BELAY_DATA ?? join(dataHome, 'belay'));
    this.instance = createHash('sha256').update(this.data).digest('hex').slice(0, 12);
    this.runtimeFolder = set.XDG_RUNTIME_DIR
      ? join(set.XDG_RUNTIME_DIR, 'belay')
      : join(tmpdir(), `belay-${userId()}`);
    this.image = set.BELAY_IMAGE;
    this.runtimeVolume = set.BELAY_RUNTIME;
    this.sidecarImage = set.BELAY_SIDECAR ?? set.BELAY_IMAGE;
    this.pool = set.BELAY_POOL;
    this.maxSandboxes = set.BELAY_MAX_SANDBOXES;
    this.memoryMb = set.BELAY_MEMORY_MB;
    this.cpus = set.BELAY_CPUS;
    this.site = set.BELAY_SITE;
    this.examples = set.BELAY_EXAMPLES;
    this.logLevel = set.BELAY_LOG_LEVEL;
    this.searchUrl = set.BELAY_SEARCH_URL;
    this.allowedHosts = set.BELAY_ALLOWED_HOSTS.split(',')
      .map((host) => host.trim().toLowerCase())
      .filter(Boolean);
    this.databaseUrl = set.DATABASE_URL;
    this.dockerHost = set.DOCKER_HOST;
    this.providers = {
      openai: { key: set.OPENAI_API_KEY, url: set.OPENAI_BASE_URL },
      anthropic: { key: set.ANTHROPIC_API_KEY, url: set.ANTHROPIC_BASE_URL },
      google: { key: set.GOOGLE_GENERATIVE_AI_API_KEY, url: set.GOOGLE_BASE_URL },
      'openai-compatible': {
        key: set.OPENAI_COMPATIBLE_API_KEY,
        url: set.OPENAI_COMPATIBLE_BASE_URL,
      },
    };
  }
}

function parse(env: Record<string, string | undefined>): z.output<typeof environment> {
  const parsed = environment.safeParse(env);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new AppError('invalid_input', `The environment cannot be read. ${faults.join('; ')}.`);
}

/** `os.userInfo` throws for a user without an entry in the passwd file. */
function userId(): number {
  try {
    return userInfo().uid;
  } catch {
    return process.getuid?.() ?? 0;
  }
}
