import {
  client as clientApp,
  methods,
  PROTOCOL_VERSION,
  type AnyMessage,
  type ClientConnection,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';

/** An editor: the SDK’s client over a WebSocket. */
export class AcpEditor {
  readonly updates: SessionUpdate[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  decision: 'approved' | 'always' | 'rejected' = 'approved';
  closed: number | undefined;
  connection!: ClientConnection;
  #socket!: WebSocket;

  async connect(url: string, token: string): Promise<this> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/acp`, { headers } as never);
    this.#socket = socket;
    const readable = new ReadableStream<AnyMessage>({
      start: (own) => {
        socket.onmessage = ({ data }) => own.enqueue(JSON.parse(data as string) as AnyMessage);
        socket.onclose = ({ code }) => {
          this.closed = code;
          own.close();
        };
      },
    });
    const writable = new WritableStream<AnyMessage>({
      write: (message) => socket.send(JSON.stringify(message)),
    });
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    this.connection = clientApp({ name: 'test' })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params.update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        this.asked.push(params);
        return { outcome: { outcome: 'selected', optionId: this.decision } };
      })
      .connect({ readable, writable });
    return this;
  }

  get agent() {
    return this.connection.agent;
  }

  initialize() {
    const params = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} };
    return this.agent.request(methods.agent.initialize, params);
  }

  begin(model: unknown = 'scripted:x') {
    return this.agent.request(methods.agent.session.new, {
      cwd: '/home/me/app',
      mcpServers: [],
      _meta: { belay: { model } },
    });
  }

  load(sessionId: string, cwd = '/home/me/app') {
    const params = { sessionId, cwd, mcpServers: [] };
    return this.agent.request(methods.agent.session.load, params);
  }

  prompt(sessionId: string, text: string) {
    const prompt = [{ type: 'text' as const, text }];
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  of<K extends SessionUpdate['sessionUpdate']>(kind: K) {
    return this.updates.filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: K }> =>
        update.sessionUpdate === kind,
    );
  }

  close(): void {
    this.#socket.close();
  }
}
