import { AppError } from '@belay/protocol';

export interface Resources {
  cpus: number;
  memoryMb: number;
}

/** The total of a place. */
export interface PlaceResources<P> extends Resources {
  place: P;
}

interface Waiting<P> {
  need: Resources;
  mayUse(place: P): boolean;
  begin(place: Used<P>): void;
  refuse(error: AppError): void;
}

interface Used<P> {
  readonly total: PlaceResources<P>;
  cpus: number;
  memoryMb: number;
  running: number;
}

/**
 * A semaphore over the processors and memory of places, and over the number of trials in all of them: work runs in order
 * as soon as it fits somewhere, where the least is in use; work that needs more than any place has runs alone. (The
 * semaphore of async-mutex has only one weight.)
 */
export class ResourceSemaphore<P> {
  readonly #places: Used<P>[];
  readonly #concurrency: number;
  #running = 0;
  #waiting: Waiting<P>[] = [];

  constructor(places: readonly PlaceResources<P>[], concurrency: number) {
    this.#places = places.map((total) => ({ total, cpus: 0, memoryMb: 0, running: 0 }));
    this.#concurrency = concurrency;
  }

  /**
   * Runs `work` when its resources are free, at a place that it may use. First come, first served: small work does not
   * overtake. Rejects with `unavailable` when it may use none any more.
   */
  async with<T>(
    need: Resources,
    work: (place: P) => Promise<T>,
    mayUse: (place: P) => boolean = () => true,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<Used<P>>();
    this.#waiting.push({ need, mayUse, begin: resolve, refuse: reject });
    this.#beginNext();
    const used = await promise;
    try {
      return await work(used.total.place);
    } finally {
      this.#take(used, need, -1);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    /** Those that earlier work waits for. */
    const awaited = new Set<Used<P>>();
    this.#waiting = this.#waiting.filter((waiting) => {
      if (this.#running >= this.#concurrency) return true;
      const usable = this.#usable(waiting);
      if (usable.length === 0) {
        waiting.refuse(new AppError('unavailable', 'None of its places is there any more.'));
        return false;
      }
      const [best] = usable
        .filter((used) => !awaited.has(used) && fits(used, waiting.need))
        .toSorted((a, b) => loadOf(a) - loadOf(b));
      if (!best) {
        for (const used of usable) awaited.add(used);
        return true;
      }
      this.#take(best, waiting.need, 1);
      waiting.begin(best);
      return false;
    });
  }

  /** Those that are large enough, or all when none is. */
  #usable({ need, mayUse }: Waiting<P>): Used<P>[] {
    const open = this.#places.filter(({ total }) => mayUse(total.place));
    const large = open.filter(({ total }) => isWithin(need, total));
    return large.length > 0 ? large : open;
  }

  #take(used: Used<P>, { cpus, memoryMb }: Resources, sign: 1 | -1): void {
    used.cpus += sign * cpus;
    used.memoryMb += sign * memoryMb;
    used.running += sign;
    this.#running += sign;
  }
}

const fits = <P>({ total, cpus, memoryMb, running }: Used<P>, need: Resources): boolean =>
  running === 0 || isWithin({ cpus: cpus + need.cpus, memoryMb: memoryMb + need.memoryMb }, total);

const isWithin = (need: Resources, total: Resources): boolean =>
  need.cpus <= total.cpus && need.memoryMb <= total.memoryMb;

const loadOf = <P>({ total, cpus, memoryMb }: Used<P>): number =>
  Math.max(cpus / total.cpus, memoryMb / total.memoryMb);
