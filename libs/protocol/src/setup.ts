/** What the server can say of a model that a person may choose. */
export interface ModelChoice {
  name: string;
  title: string;
  /** Whether it can be called now: its key is set, or it needs none. */
  ready: boolean;
  /** What to do when it is not ready. */
  remedy: string | null;
}

/** A session that the product ships, ready to be started. */
export interface Example {
  name: string;
  title: string;
  task: string;
  model: string;
}

/** One thing that must be so for the product to work, as `belay doctor` shows it. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** What to do when it is not. */
  remedy: string | null;
}
