import { ignoreError } from '@belay/protocol';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  ErrorCode,
  InitializeResultSchema,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

/** How long to wait for pending requests once the client has closed its side. */
const lastAnswersMs = 60_000;

/** Forwards every message unchanged, in both directions, until standard input ends and all requests are answered. */
export async function bridgeMcp(url: URL, token: string): Promise<void> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const server = new StreamableHTTPClientTransport(url, { requestInit });
  const client = new StdioServerTransport();
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    client.onclose = resolve;
  });
  const open = new Set<RequestId>();
  let settled = Promise.withResolvers<void>();
  const settle = (id: RequestId | undefined): void => {
    if (id !== undefined) open.delete(id);
    if (open.size === 0) settled.resolve();
  };
  // Sent in order, because the first message begins the session that the others name.
  let sent = Promise.resolve();
  client.onmessage = (message) => {
    if (isJSONRPCRequest(message)) open.add(message.id);
    const begins = isJSONRPCRequest(message) && message.method === 'initialize';
    const send = (): Promise<void> =>
      server.send(message).catch((error: unknown) => refuse(message, error));
    if (begins) sent = sent.then(send);
    else void sent.then(send);
  };
  server.onmessage = (message) => {
    if (isJSONRPCResultResponse(message)) {
      // As in the SDK’s own client, later requests name this version.
      const { data } = InitializeResultSchema.safeParse(message.result);
      if (data) server.setProtocolVersion(data.protocolVersion);
    }
    void client.send(message);
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id);
  };
  // Broken streams are reopened; a request that is lost gets an error response.
  server.onerror = () => undefined;
  await server.start();
  await client.start();
  await ended;
  await sent;
  settled = Promise.withResolvers();
  settle(undefined);
  const late = setTimeout(settled.resolve, lastAnswersMs);
  await settled.promise;
  clearTimeout(late);
  await server.terminateSession().catch(ignoreError('the server ends it later by itself'));
  await server.close();
  await client.close();

  function refuse(message: JSONRPCMessage, error: unknown): void {
    if (!isJSONRPCRequest(message)) return;
    const words = error instanceof Error ? error.message : String(error);
    const failure = { code: ErrorCode.InternalError, message: `Belay’s server: ${words}` };
    void client.send({ jsonrpc: '2.0', id: message.id, error: failure });
    settle(message.id);
  }
}
