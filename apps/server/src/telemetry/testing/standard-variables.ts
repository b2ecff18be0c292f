/**
 * Sets variables `OTEL_…` of this process, where the SDK reads them, and returns them for the server’s own settings.
 * `unsetVariables` removes them.
 */
export function setVariables(variables: Record<string, string>): Record<string, string> {
  Object.assign(process.env, variables);
  return variables;
}

export function unsetVariables(): void {
  for (const name of Object.keys(process.env))
    if (name.startsWith('OTEL_')) Reflect.deleteProperty(process.env, name);
}

/** The variables of traces in JSON, sent soon. */
export const tracesTo = (url: string): Record<string, string> => ({
  OTEL_TRACES_EXPORTER: 'otlp',
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '20',
});
