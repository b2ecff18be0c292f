import { freePort } from '@belay/testing';

/** The variables with which a server serves its metrics on a free port, and their address. */
export async function metricsOnFreePort(): Promise<{
  variables: Record<string, string>;
  url: string;
}> {
  // The SDK of OpenTelemetry takes port 0 for its usual one.
  const port = await freePort();
  const variables = {
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  };
  return { variables, url: `http://127.0.0.1:${port}/metrics` };
}
