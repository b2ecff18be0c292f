/** Implemented by providers that need something running for the sessions of this server, whether or not it leads. */
export interface OnWork {
  /**
   * Called once on each server of a database, before it has sessions and once others know it; on one that leads from its
   * start between `beforeLead` and `onLead`.
   */
  onWork(): Promise<void> | void;
}

/**
 * Implemented by providers that do something for the whole database, which one of its servers does: the one that leads.
 * `Lead` calls them.
 */
export interface OnLead {
  /** Called once, when this server begins to lead: after every `beforeLead`, and before any client is served. */
  onLead(): Promise<void> | void;
}

/** Implemented by providers that others rely on when they begin to lead. */
export interface BeforeLead {
  /** Called once, when this server begins to lead: from its start, or after it `hasWorked` for sessions. */
  beforeLead(hasWorked: boolean): Promise<void> | void;
}
