/**
 * The value of a record’s own key. Names from outside, such as `constructor` and `__proto__`, are also properties that
 * every object inherits.
 */
export const ownValue = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
