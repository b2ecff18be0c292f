/** A page of a list of a repository, as it was answered. */
export interface ForgePage {
  status: number;
  etag: string | null;
  /** Parsed JSON; undefined with the status 304. */
  body: unknown;
  /** The path of the next page, for the same method; null after the last one. */
  next: string | null;
  /** How long the host wants this list to be left alone; null if it does not say. */
  pollAfterMs: number | null;
}

export interface ForgeQuery {
  /** Of an earlier answer to the same path and query. */
  etag?: string | null;
  query?: Readonly<Record<string, string | number>>;
}

/** Raw lists of one repository, for polling. */
export interface ForgeReader {
  /**
   * Reads below the address of the repository, such as `issues/comments`. The statuses are 200 and 304; everything else is
   * thrown as `Forge` does. At most 8 MiB.
   */
  get(path: string, query?: ForgeQuery): Promise<ForgePage>;
}
