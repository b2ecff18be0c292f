import type { PlaceLabels } from '@belay/protocol';
import type { FromMap } from './engine/images.js';

/** A run to start. */
export interface NewRun {
  suite: string;
  data: string;
  /** `oracle`, `nop`, `model`, `command:LINE` or `predictions:FILE`. */
  agent: string;
  model?: string;
  /** Ids of tasks; all when omitted. */
  tasks?: string[];
  sample?: number;
  seed?: number;
  attempts?: number;
  concurrency?: number;
  out: string;
  /** The run’s id on the board; by default derived from its content. */
  boardId?: string;
  /** Names of machines, `this-machine` or `all`; by default all. */
  places?: string[];
  /** Of the places where the sessions of the agents `model` and agent:NAME may run. */
  sessionLabels?: PlaceLabels;
  network?: 'none' | 'declared';
  /** The network for builds of the tasks’ untrusted Dockerfiles: the engine’s default, or none. */
  buildNetwork?: 'default' | 'none';
  fromMap?: FromMap;
  sandbox?: string;
  /** A factor for all time limits, for slow machines. */
  timeoutMultiplier?: number;
  /** Clones of repositories, for SWE-Bench instances whose image is not on the engine. */
  repos?: string;
  /** No more trials are started once they have cost this much; undefined for no limit. */
  maxDollars?: number;
  /** Whether to check tasks without a preflight result before the trials; this calls no model. */
  preflight?: boolean;
}
