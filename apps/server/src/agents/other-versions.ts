import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AppError, errorFrom, ownValue, type OtherAgentVersion } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import { agentLock, lockedVersion, nameOfPath, type AgentLock } from './agent-lock.js';
import { noSuchAgent } from './agent.store.js';
import { InstallableAgents } from './installable-agents.js';
import { npmRegistry, type NpmRegistry } from './npm-registry.js';
import { packageUrl, registryHeaders } from './package-download.js';

const packages = z.record(z.string(), z.string()).default({});

/** What a registry says about one version of a package. */
const published = z.object({
  dist: z.object({ integrity: z.string() }),
  dependencies: packages,
  optionalDependencies: packages,
});
type Published = z.infer<typeof published>;

/** What a registry says about a package. */
const packageDocument = z.object({ versions: z.record(z.string(), z.unknown()) });

/** A version that Belay's lock does not name, with a lock that was made from what the registry says now. */
export interface FoundVersion {
  shown: OtherAgentVersion;
  lock: AgentLock;
}

/** Versions of agents that nobody checked for this Belay; an admin confirms what the registry has. */
@Injectable()
export class OtherVersions {
  constructor(
    private readonly config: Config,
    private readonly installable: InstallableAgents,
  ) {}

  /**
   * The packages of the agent's program are of this version, and all others are those of Belay's lock. Throws
   * `not_found` if there is no such version, and `conflict` if it needs other packages.
   */
  async find(name: string, version: string): Promise<FoundVersion> {
    const known = this.installable.known(name);
    if (!known) throw noSuchAgent(name);
    const { lock } = known;
    const [program = ''] = Object.keys(lock.roots);
    const registry = new PackageDocuments(await this.#registry());
    const wanted = await registry.version(program, version);
    const locked = await registry.version(program, lockedVersion(lock));
    if (!isDeepStrictEqual(wanted.dependencies, locked.dependencies))
      throw new AppError(
        'conflict',
        `${program} ${version} needs other packages than ${lockedVersion(lock)}, which Belay’s lock has. Update Belay to get a newer one.`,
      );
    const changed = lock.packages.flatMap((one) => {
      const folder = nameOfPath(one.path);
      if (folder === program) return { one, name: program, version };
      // The program's own packages have its version, those of others one of their own.
      const isOwn = one.version.startsWith(lockedVersion(lock));
      if (!ownValue(lock.platforms, folder) || !isOwn) return [];
      return { one, ...platformPackage(wanted, folder, `${program} ${version}`) };
    });
    const made = await Promise.all(
      changed.map(async ({ one, ...found }) => {
        const { dist } = await registry.version(found.name, found.version);
        const size = await registry.size(found);
        return { ...one, ...found, integrity: dist.integrity, size };
      }),
    );
    const rest = lock.packages.filter((each) => !changed.some(({ one }) => one === each));
    const shown = made.map((each) => ({
      name: each.name,
      version: each.version,
      integrity: each.integrity,
    }));
    return {
      shown: { version, packages: shown },
      lock: parsedLock({
        ...lock,
        roots: { ...lock.roots, [program]: version },
        packages: [...made, ...rest],
      }),
    };
  }

  /** The lock of a version, if the registry still has exactly what was confirmed. Throws `conflict` otherwise. */
  async confirmed(
    name: string,
    { version, integrity }: { version: string; integrity: readonly string[] },
  ): Promise<AgentLock> {
    const { shown, lock } = await this.find(name, version);
    const found = shown.packages.map((each) => each.integrity);
    if (!isDeepStrictEqual(found, [...integrity]))
      throw new AppError(
        'conflict',
        `Confirm what the npm registry has of version ${version}, with: belay agents update ${name} --version ${version}`,
      );
    return lock;
  }

  async #registry(): Promise<{ registry: NpmRegistry; fetch: typeof globalThis.fetch }> {
    const { environment } = this.config;
    return { registry: await npmRegistry(environment), fetch: outgoingFetch(environment) };
  }
}

/** What a registry says about packages, each asked for once. */
class PackageDocuments {
  readonly #of: { registry: NpmRegistry; fetch: typeof globalThis.fetch };
  readonly #known = new Map<string, Promise<z.infer<typeof packageDocument>>>();

  constructor(of: { registry: NpmRegistry; fetch: typeof globalThis.fetch }) {
    this.#of = of;
  }

  /** Throws `not_found` if the registry does not have it. */
  async version(name: string, version: string): Promise<Published> {
    const document = this.#known.get(name) ?? this.#read(name);
    this.#known.set(name, document);
    const found = published.safeParse(ownValue((await document).versions, version)).data;
    if (found) return found;
    throw new AppError('not_found', `The npm registry has no version ${version} of ${name}.`);
  }

  /** The size of a package's archive, in bytes. */
  async size(one: { name: string; version: string }): Promise<number> {
    const response = await this.#ask(packageUrl(this.#of.registry, one), 'HEAD');
    return Number(response.headers.get('content-length'));
  }

  async #read(name: string): Promise<z.infer<typeof packageDocument>> {
    const url = new URL(name.replace('/', '%2f'), this.#of.registry.url);
    const response = await this.#ask(url, 'GET');
    const answer: unknown = await response.json().catch(() => undefined);
    return packageDocument.catch({ versions: {} }).parse(answer);
  }

  async #ask(url: URL, method: 'GET' | 'HEAD'): Promise<Response> {
    const { registry, fetch } = this.#of;
    const headers = registryHeaders(registry);
    // The short form, which leaves out descriptions.
    headers.set('accept', 'application/vnd.npm.install-v1+json, application/json;q=0.9');
    const response = await fetch(url.href, { method, headers }).catch((error: unknown) => {
      throw new AppError(
        'unavailable',
        `The npm registry did not answer: ${errorFrom(error).message}`,
      );
    });
    if (response.ok || response.status === 404) return response;
    throw new AppError('unavailable', `The npm registry answered ${response.status}.`);
  }
}

/** Where a version has its program for one processor; a name may be an alias, such as `npm:a@1.0.0-linux-x64`. */
function platformPackage(
  { optionalDependencies }: Published,
  folder: string,
  what: string,
): { name: string; version: string } {
  const wanted = ownValue(optionalDependencies, folder) ?? '';
  const [, alias, version] = /^(?:npm:(.+)@)?(\d[\w.+-]*)$/.exec(wanted) ?? [];
  if (version === undefined)
    throw new AppError('conflict', `${what} has no package ${folder} for this platform.`);
  return { name: alias ?? folder, version };
}

function parsedLock(lock: AgentLock): AgentLock {
  const { data } = agentLock.safeParse(lock);
  if (data) return data;
  throw new AppError('unavailable', 'The npm registry does not say how to check these packages.');
}
