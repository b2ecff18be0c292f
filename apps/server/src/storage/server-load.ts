/** What other servers know of this one’s containers. */
export interface ServerLoad {
  /** Names the engine or namespace of its containers and files: servers with the same one share them. */
  instance: string | null;
  /** The sandboxes of sessions that work, on that engine. */
  sandboxes: number;
  /** How many it may have there at most; 0 as long as it takes no sessions. */
  capacity: number;
}

/** This server’s own load, which is stored with each of its beats. */
class OwnLoad {
  #look: () => ServerLoad = () => ({ instance: null, sandboxes: 0, capacity: 0 });

  get now(): ServerLoad {
    return this.#look();
  }

  /** From now on, this says how much there is to do. */
  reportBy(look: () => ServerLoad): void {
    this.#look = look;
  }
}

export const ownLoad = new OwnLoad();
