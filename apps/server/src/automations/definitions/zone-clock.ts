const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The clock of a time zone. Wall times are milliseconds since 1970 as if the zone were UTC. It holds for zones that do not
 * set their clocks twice within two days.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;

  /** Throws a RangeError for an unknown zone. */
  constructor(zone: string) {
    const numeric = 'numeric';
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  }

  /** What the clock shows at a time, in milliseconds since 1970, to the second. */
  wallAt(time: number): number {
    const parts = new Map(
      this.#format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
    );
    const [year, month, day, hour, minute, second] = (
      ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    ).map((type) => parts.get(type) ?? 0);
    return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  }

  /** The difference to UTC at every wall time of a day that begins at `wall`, if it is the same all day. */
  offsetOfDay(wall: number): number | undefined {
    const [before, after] = [this.#offsetAt(wall - dayMs), this.#offsetAt(wall + 2 * dayMs)];
    return before === after ? before : undefined;
  }

  /** The times at which the clock shows this, earliest first: none, one or two. */
  timesOf(wall: number): number[] {
    return [...new Set(this.#offsetsAround(wall))]
      .filter((offset) => this.#offsetAt(wall - offset) === offset)
      .map((offset) => wall - offset)
      .toSorted((a, b) => a - b);
  }

  /** The first time after a gap that leaves out this wall time. */
  afterGap(wall: number): number {
    const [before, after] = this.#offsetsAround(wall);
    let [still, already] = [wall - Math.max(before, after), wall - Math.min(before, after)];
    while (already - still > 1_000) {
      const middle = Math.floor((still + already) / 2_000) * 1_000;
      if (this.#offsetAt(middle) === before) still = middle;
      else already = middle;
    }
    return already;
  }

  #offsetsAround = (wall: number): [before: number, after: number] => [
    this.#offsetAt(wall - dayMs),
    this.#offsetAt(wall + dayMs),
  ];

  #offsetAt(time: number): number {
    return this.wallAt(time) - Math.floor(time / 1_000) * 1_000;
  }
}
