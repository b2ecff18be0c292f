import type { IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { ServerOptions } from 'socket.io';
import { AddressCheck } from './address-check.js';
import { Identity } from './identity.js';
import type { ViewerServer } from './viewer.js';

/** socket.io for the dashboard; Host, Origin and token are checked before any upgrade. */
export class DashboardAdapter extends IoAdapter {
  private readonly identity: Identity;
  private readonly addresses: AddressCheck;

  constructor(app: INestApplicationContext) {
    super(app);
    this.identity = app.get(Identity);
    this.addresses = app.get(AddressCheck);
  }

  override createIOServer(port: number, options?: ServerOptions): ViewerServer {
    const server = super.createIOServer(port, {
      ...options,
      maxHttpBufferSize: 4_000_000,
      allowRequest: (request: IncomingMessage, answer: Answer) => this.allow(request, answer),
    } as ServerOptions) as ViewerServer;
    server.use((socket, next) => {
      socket.data.role = this.identity.role(socket.request.headers) ?? 'viewer';
      next();
    });
    return server;
  }

  private allow({ headers }: IncomingMessage, answer: Answer): void {
    const fault = this.addresses.fault(headers);
    if (fault) answer(fault, false);
    else if (this.identity.role(headers)) answer(null, true);
    else answer('A token is missing or wrong.', false);
  }
}

type Answer = (error: string | null | undefined, success: boolean) => void;
