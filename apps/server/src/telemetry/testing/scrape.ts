import parse from 'parse-prometheus-text-format';
import { until } from '@belay/testing';

export interface Scraped {
  text: string;
  /** The value of the only series with this name and these labels, among others; throws if there is none. */
  sample(name: string, labels: Record<string, string>): number;
  /** The labels of all series with this name. */
  labels(name: string): Record<string, string>[];
}

/** Reads the metrics at an address as Prometheus does, once it is served. */
export async function scrape(url: string): Promise<Scraped> {
  const text = await until('the metrics are served', () =>
    fetch(url).then(
      (response) => response.text(),
      () => undefined,
    ),
  );
  // The parser merges the series of a histogram with several labels, so each is read by its own name.
  const families = parse(text.replaceAll(/^# TYPE .*$/gm, ''));
  const series = families.flatMap(({ name, metrics }) =>
    metrics.map(({ value, labels = {} }) => ({ name, value: Number(value), labels })),
  );
  return {
    text,
    sample(name, wanted) {
      const found = series.filter(
        (one) =>
          one.name === name &&
          Object.entries(wanted).every(([label, value]) => one.labels[label] === value),
      );
      const [only] = found;
      if (!only || found.length > 1)
        throw new Error(
          `${found.length} series ${name} with ${JSON.stringify(wanted)} in\n${text}`,
        );
      return only.value;
    },
    labels: (name) => series.filter((one) => one.name === name).map(({ labels }) => labels),
  };
}
