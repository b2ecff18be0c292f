import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { runtimeFolder } from '@belay/host';
import { type Scope } from '@belay/protocol';
import { z } from 'zod';
import { closedNetworksOf, closedNetworkVariables } from './closed-network-config.js';
import { kubernetesOf, kubernetesSettings, type KubernetesConfig } from './kubernetes-config.js';
import { peerAddressOf, peerVariables } from './peer-config.js';
import { s3Of, s3Variables, type S3Config } from './s3-config.js';
import { blankIsUnset, faulty, commaSeparated, text } from './variables.js';

const url = z.preprocess(blankIsUnset, z.url().optional());
const count = (usual: number, least = 0) =>
  z.preprocess(blankIsUnset, z.coerce.number().int().min(least).default(usual));

/** Accounts with a scope: groups, mail addresses, and mail domains. */
const accounts = z.preprocess(
  blankIsUnset,
  z
    .string()
    .default('')
    .transform((list) =>
      commaSeparated(list).map((name) => (name.startsWith('group:') ? name : name.toLowerCase())),
    )
    .refine(
      (names) => names.every((name) => /^(group:.+|[^@\s]*@[^@\s]+\.[^@\s]+)$/.test(name)),
      'write group:NAME, @example.com or name@example.com, comma-separated',
    ),
);

/** The key of AES-256, in Base64. */
export const isSecretKey = (text: string): boolean => /^[\w+/-]{43}=?$/.test(text.trim());

const environment = z.object({
  ...kubernetesSettings,
  BELAY_HOST: z.preprocess(blankIsUnset, z.string().default('127.0.0.1')),
  BELAY_PORT: z.preprocess(blankIsUnset, z.coerce.number().int().min(0).max(65_535).default(4600)),
  BELAY_DATA: text,
  BELAY_SOCKET_VOLUME: text,
  BELAY_IMAGE: z.preprocess(blankIsUnset, z.string().default('belay/sandbox:latest')),
  BELAY_RUNTIME: z.preprocess(blankIsUnset, z.string().default('belay-runtime')),
  BELAY_SIDECAR: text,
  BELAY_POOL: count(2),
  BELAY_MAX_SANDBOXES: count(20, 1),
  BELAY_MEMORY_MB: count(2048, 64),
  BELAY_MAX_WORKSPACE_MB: count(2048, 1),
  BELAY_SESSION_MB: count(2048, 1),
  BELAY_MACHINE_LEASE_S: count(300, 1),
  BELAY_SESSION_LOG_MB: count(64, 1),
  BELAY_COPY_MB: count(512),
  BELAY_KEEP_FREE_MB: count(200),
  BELAY_CPUS: z.preprocess(blankIsUnset, z.coerce.number().positive().default(2)),
  BELAY_ACTION_SETUP_S: count(900, 1),
  BELAY_ACTION_IMAGE_MB: count(4096, 1),
  BELAY_SITE: text,
  BELAY_EXAMPLES: text,
  BELAY_CLI: text,
  BELAY_BENCHMARKS: text,
  BELAY_LOG_LEVEL: z.preprocess(
    blankIsUnset,
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  ),
  BELAY_SEARCH_URL: url,
  BELAY_REQUESTS_PER_SECOND: count(200),
  BELAY_TUNNEL: z.preprocess(blankIsUnset, z.enum(['ngrok']).optional()),
  NGROK_AUTHTOKEN: text,
  BELAY_ALLOWED_HOSTS: z.preprocess(blankIsUnset, z.string().default('')),
  BELAY_PUBLIC_URL: url,
  BELAY_PREVIEW_HOST: z.preprocess(
    blankIsUnset,
    z
      .string()
      .toLowerCase()
      .regex(
        /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*(:\d{1,5})?$/,
        'write a domain whose subdomains lead to this server, such as preview.example.com',
      )
      .optional(),
  ),
  BELAY_OIDC_ISSUER: url,
  BELAY_OIDC_CLIENT_ID: text,
  BELAY_OIDC_CLIENT_SECRET: text,
  BELAY_OIDC_SCOPES: z.preprocess(blankIsUnset, z.string().default('openid email profile')),
  BELAY_OIDC_ADMIN: accounts,
  BELAY_OIDC_OPERATE: accounts,
  BELAY_OIDC_VIEW: accounts,
  DATABASE_URL: url,
  ...closedNetworkVariables,
  ...peerVariables,
  ...s3Variables,
  BELAY_SECRET_KEY: z.preprocess(
    blankIsUnset,
    z
      .string()
      .refine(isSecretKey, 'write 32 random bytes in Base64, as by openssl rand -base64 32')
      .optional(),
  ),
  // Sandboxes reach the server by a socket in a folder of this machine, which an engine elsewhere cannot mount.
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
  OTEL_SDK_DISABLED: text,
  OTEL_TRACES_EXPORTER: text,
  OTEL_METRICS_EXPORTER: text,
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: text,
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

/** The configuration of a team’s identity provider. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  readonly roles: Readonly<Record<Scope, readonly string[]>>;
}

/** What is told to OpenTelemetry; how and to whom, the SDK reads from its standard variables. */
export interface TelemetryConfig {
  readonly traces: boolean;
  readonly metrics: boolean;
  /** Whether spans contain texts of users, models and programs. */
  readonly content: boolean;
}

/** The configuration from environment variables, parsed once at the start. No other file reads them. */
export class Config {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly data: string;
  /** Unique for each server of an engine; a label of all containers and volumes of this server. */
  readonly instance: string;
  /** The folder of Unix sockets. Its path is short, because a socket’s path has at most 107 bytes. */
  readonly runtimeFolder: string;
  /** The volume that is mounted there, if the server runs in a container. */
  readonly socketVolume: string | undefined;
  readonly image: string;
  readonly runtimeVolume: string;
  readonly sidecarImage: string;
  readonly pool: number;
  readonly maxSandboxes: number;
  readonly memoryMb: number;
  /** The size limit of workspaces that are uploaded or copied to a fork. */
  readonly maxWorkspaceMb: number;
  readonly cpus: number;
  /** How long the agent of a joined machine may be disconnected without losing its session. */
  readonly machineLeaseMs: number;
  /** Disk space for the terminals and blobs of one session, half for each. */
  readonly sessionBytes: number;
  /** Disk space for the copies of one session’s steps; 0 for none. */
  readonly copyBytes: number;
  /** Disk space for the events of one session. */
  readonly sessionLogBytes: number;
  /** Disk space that is kept free of data from sandboxes. */
  readonly keepFreeBytes: number;
  /** The time limit of an action’s set-up, and the space that it may add to its base image. */
  readonly actionSetupSeconds: number;
  readonly actionImageMb: number;
  readonly site: string | undefined;
  readonly examples: string | undefined;
  /** The program of the command line, which runs benchmarks. */
  readonly cli: string | undefined;
  /** The folder with data of benchmarks, which the machine’s operator fills. */
  readonly benchmarks: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly searchUrl: string | undefined;
  /** Host names that requests may use, besides loopback and `host`. */
  readonly allowedHosts: readonly string[];
  /** Networks and addresses that no sandbox reaches through this server, besides private ones. */
  readonly closedNetworks: readonly string[];
  /** The address that users see, if it differs from the server’s own: behind a proxy with TLS. */
  readonly publicUrl: string | undefined;
  /** The domain of preview hosts, with its port if it differs from the server’s; loopback needs none. */
  readonly previewHost: string | undefined;
  readonly oidc: OidcConfig | undefined;
  readonly telemetry: TelemetryConfig;
  /** The tunnel to open at the start, and its token. */
  readonly tunnel: { readonly kind: 'ngrok'; readonly token: string | undefined } | undefined;
  /** API requests that one caller may make per second; 0 means no limit. */
  readonly requestsPerSecond: number;
  readonly databaseUrl: string | undefined;
  /** HOST:PORT where other servers of the database reach this one; undefined for a server that shares it with none. */
  readonly peerAddress: string | undefined;
  /** Where blobs, workspaces, copies and patches are; undefined for the data folder. */
  readonly storage: S3Config | undefined;
  /** The key of the documents in the database, in Base64; undefined for the one in the data folder. */
  readonly secretKey: string | undefined;
  readonly dockerHost: string | undefined;
  /** Where containers run instead of the engine of this machine. */
  readonly kubernetes: KubernetesConfig | undefined;
  readonly providers: {
    readonly openai: ProviderConfig;
    readonly anthropic: ProviderConfig;
    readonly google: ProviderConfig;
    readonly 'openai-compatible': ProviderConfig;
  };
  /** All environment variables, for code that looks up the host’s proxies and package registries. */
  readonly environment: Readonly<Record<string, string | undefined>>;

  /** Throws an AppError that names a variable with an invalid value. */
  constructor(env: Record<string, string | undefined> = process.env) {
    const set = parse(env);
    this.environment = env;
    this.host = set.BELAY_HOST;
    this.port = set.BELAY_PORT;
    const dataHome = set.XDG_DATA_HOME ?? join(homedir(), '.local', 'share');
    this.data = resolve(set.BELAY_DATA ?? join(dataHome, 'belay'));
    this.socketVolume = set.BELAY_SOCKET_VOLUME;
    this.kubernetes = kubernetesIn(set);
    // In a container, every server has the same data folder; a volume’s name is unique on its engine, and where agents
    // connect is in a cluster.
    const unique = this.kubernetes?.url ?? this.socketVolume ?? this.data;
    this.instance = createHash('sha256').update(unique).digest('hex').slice(0, 12);
    this.runtimeFolder = runtimeFolder(set.XDG_RUNTIME_DIR);
    this.image = set.BELAY_IMAGE;
    this.runtimeVolume = set.BELAY_RUNTIME;
    this.sidecarImage = set.BELAY_SIDECAR ?? set.BELAY_IMAGE;
    this.pool = set.BELAY_POOL;
    this.maxSandboxes = set.BELAY_MAX_SANDBOXES;
    this.memoryMb = set.BELAY_MEMORY_MB;
    this.maxWorkspaceMb = set.BELAY_MAX_WORKSPACE_MB;
    this.cpus = set.BELAY_CPUS;
    this.machineLeaseMs = set.BELAY_MACHINE_LEASE_S * 1000;
    this.sessionBytes = set.BELAY_SESSION_MB * 2 ** 20;
    this.copyBytes = set.BELAY_COPY_MB * 2 ** 20;
    this.sessionLogBytes = set.BELAY_SESSION_LOG_MB * 2 ** 20;
    this.keepFreeBytes = set.BELAY_KEEP_FREE_MB * 2 ** 20;
    this.actionSetupSeconds = set.BELAY_ACTION_SETUP_S;
    this.actionImageMb = set.BELAY_ACTION_IMAGE_MB;
    this.site = set.BELAY_SITE;
    this.examples = set.BELAY_EXAMPLES;
    this.cli = set.BELAY_CLI;
    this.benchmarks = resolve(set.BELAY_BENCHMARKS ?? join(this.data, 'benchmarks'));
    this.logLevel = set.BELAY_LOG_LEVEL;
    this.searchUrl = set.BELAY_SEARCH_URL;
    this.allowedHosts = commaSeparated(set.BELAY_ALLOWED_HOSTS).map((host) => host.toLowerCase());
    this.closedNetworks = closedNetworksOf(set);
    this.publicUrl = set.BELAY_PUBLIC_URL?.replace(/\/$/, '');
    this.previewHost = set.BELAY_PREVIEW_HOST;
    this.oidc = oidcOf(set);
    this.telemetry = telemetryOf(set);
    this.tunnel = set.BELAY_TUNNEL && { kind: set.BELAY_TUNNEL, token: set.NGROK_AUTHTOKEN };
    this.requestsPerSecond = set.BELAY_REQUESTS_PER_SECOND;
    this.databaseUrl = set.DATABASE_URL;
    this.peerAddress = peerAddressOf(set, this.databaseUrl);
    this.storage = s3Of(set);
    this.secretKey = set.BELAY_SECRET_KEY;
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

/** The variables of this server that programs of the host use, too. */
const ofTheHost: ReadonlySet<string> = new Set(['DOCKER_HOST', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR']);

/** The environment without the server’s own settings and keys, for programs that it starts on the host. */
export const hostEnvironment = ({ environment: all }: Config): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(all).filter(
      ([name]) =>
        ofTheHost.has(name) || !(/^(BELAY|OTEL)_/.test(name) || name in environment.shape),
    ),
  );

function kubernetesIn(set: z.output<typeof environment>): KubernetesConfig | undefined {
  const found = kubernetesOf(set);
  if (found && 'fault' in found) throw faulty(found.fault);
  if (found?.files === 'pods' && set.BELAY_COPY_MB === 0)
    throw faulty(
      'BELAY_FILES=pods needs copies of steps, which are all that is left of a stopped session: set BELAY_COPY_MB',
    );
  return found;
}

function oidcOf(set: z.output<typeof environment>): OidcConfig | undefined {
  const { BELAY_OIDC_ISSUER: issuer, BELAY_OIDC_CLIENT_ID: clientId } = set;
  if (issuer === undefined && clientId === undefined) return undefined;
  const roles = {
    admin: set.BELAY_OIDC_ADMIN,
    operate: set.BELAY_OIDC_OPERATE,
    view: set.BELAY_OIDC_VIEW,
  };
  if (issuer === undefined || clientId === undefined) {
    throw faulty(
      'BELAY_OIDC_ISSUER and BELAY_OIDC_CLIENT_ID belong together: set both, or neither',
    );
  }
  if (Object.values(roles).every((names) => names.length === 0)) {
    throw faulty(
      'BELAY_OIDC_ADMIN, BELAY_OIDC_OPERATE or BELAY_OIDC_VIEW must say who may log in, such as group:staff or @example.com',
    );
  }
  const { BELAY_OIDC_CLIENT_SECRET: clientSecret, BELAY_OIDC_SCOPES: scopes } = set;
  return { issuer, clientId, clientSecret, scopes, roles };
}

/**
 * An exporter that is not named is off: unlike the default of OpenTelemetry, under which a server would send what it
 * does to whoever listens on this machine.
 */
function telemetryOf(set: z.output<typeof environment>): TelemetryConfig {
  const isOn = (exporters = '') =>
    set.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
    commaSeparated(exporters).some((name) => name !== 'none');
  const captured = set.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT ?? '';
  return {
    traces: isOn(set.OTEL_TRACES_EXPORTER),
    metrics: isOn(set.OTEL_METRICS_EXPORTER),
    content: ['true', 'span_only', 'span_and_event'].includes(captured.toLowerCase()),
  };
}

function parse(env: Record<string, string | undefined>): z.output<typeof environment> {
  const parsed = environment.safeParse(env);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw faulty(faults.join('; '));
}
