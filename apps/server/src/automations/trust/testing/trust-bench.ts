import {
  automationDefinition,
  runFindings,
  type AutomationDefinitionInput,
  type ForgeUser,
  type Occurrence,
} from '@belay/protocol';
import { TestLogs } from '../../../testing/logs.js';
import { Clock } from '../../clock.js';
import { MemoryForge } from '../../forges/testing/memory-forge.js';
import { Forges } from '../../forges/forges.js';
import { PullChanges, type PullChange } from '../../forges/pull-changes.js';
import {
  RunRefusal,
  type RunDecision,
  type RunMaterial,
  type RunRecord,
} from '../../run-record.js';
import { Actors } from '../actors.js';
import { BranchTips } from '../branch-tips.js';
import { OwnOrigin } from '../own-origin.js';
import { Permissions } from '../permissions.js';
import { RunMaterials } from '../run-materials.js';
import { RunPlaces } from '../run-places.js';
import { RunTextReader } from '../run-text-reader.js';

type Trust = NonNullable<AutomationDefinitionInput['trust']>;

export interface AskedRun extends Partial<Occurrence> {
  event: Occurrence['event'];
  trust?: Trust;
  on?: AutomationDefinitionInput['on'];
  out?: AutomationDefinitionInput['out'];
}

/** A clock that stands still until a test moves it. */
class StandingClock extends Clock {
  ms = Date.UTC(2026, 5, 1);
  override now(): Date {
    return new Date(this.ms);
  }
}

/** The modules of trust with a real database, in front of a git host in memory. */
export class TrustBench {
  readonly forge = new MemoryForge();
  readonly clock = new StandingClock();
  readonly logs = new TestLogs();
  /** Tips of branches, as git says them. */
  readonly tips = new Map<string, string>();
  /** Changes of pull requests, by their commit. */
  readonly patches = new Map<string, string>();
  readonly writer: ForgeUser = { id: '20', name: 'ada', isBot: false };
  readonly stranger: ForgeUser = { id: '30', name: 'mallory', isBot: false };
  materials!: RunMaterials;

  async open(): Promise<this> {
    await this.logs.open();
    this.forge.levels.set(this.writer.id, 'write');
    const permissions = new Permissions(this.clock);
    const own = new OwnOrigin(this.logs.database);
    const forges = Object.assign(Object.create(Forges.prototype) as Forges, {
      open: () => this.forge,
    });
    const tips = Object.assign(Object.create(BranchTips.prototype) as BranchTips, {
      urlOf: (host: string, path: string) => `https://${host}/${path}.git`,
      tipOf: (_: string, branch: string) => Promise.resolve(this.tips.get(branch)),
    });
    const changes = Object.assign(Object.create(PullChanges.prototype) as PullChanges, {
      patchOf: ({ sha }: PullChange) => Promise.resolve(this.patches.get(sha) ?? null),
    });
    this.materials = new RunMaterials(
      forges,
      new Actors(permissions, own),
      permissions,
      new RunPlaces(own, tips),
      new RunTextReader(own, changes),
    );
    return this;
  }

  async close(): Promise<void> {
    await this.logs.close();
  }

  run({ trust, on, out, ...given }: AskedRun): RunRecord {
    const { host, path: repository } = this.forge;
    const definition = automationDefinition.parse({
      name: 'fix',
      on: on ?? { host, repository, event: given.event },
      run: { task: 'Fix it.', budgets: { dollars: 1 } },
      ...(trust && { trust }),
      ...(out && { out }),
    });
    const at = '2026-01-01T00:30:00Z';
    const occurrence: Occurrence = { key: 'key', at, actor: this.writer, ...given };
    return {
      id: 'r1',
      automation: {
        id: 'a1',
        name: 'fix',
        version: 1,
        definition,
        owner: 'owner',
        state: 'on',
        why: null,
        file: null,
        nextAt: null,
        lastAt: null,
        created: at,
        updated: at,
      },
      definition,
      version: 1,
      occurrence,
      eventKey: occurrence.key,
      delivery: null,
      lane: '#1',
      subject: '#1',
      findings: runFindings.parse({}),
      decisions: [],
      state: 'pending',
      code: null,
      why: null,
      session: null,
      reserved: 0,
      spent: 0,
      result: null,
      created: at,
      started: null,
      ended: null,
    };
  }

  async given(asked: AskedRun): Promise<RunMaterial & { decisions: RunDecision[] }> {
    const { material, decisions } = await this.materials.of(this.run(asked));
    return { ...material, decisions };
  }

  /** The refusal in short: `refused permission`. Its sentence is `refusalOf`’s. */
  async outcome(asked: AskedRun): Promise<string> {
    const refusal = await this.refusalOf(asked);
    return refusal ? `${refusal.state} ${refusal.code}` : 'begun';
  }

  async refusalOf(asked: AskedRun): Promise<RunRefusal | undefined> {
    try {
      await this.materials.of(this.run(asked));
      return undefined;
    } catch (error) {
      if (error instanceof RunRefusal) return error;
      throw error;
    }
  }
}
