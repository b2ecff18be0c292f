import { Injectable } from '@nestjs/common';
import { AppError, type SessionSettings, type SessionSummary } from '@belay/protocol';

@Injectable()
export class SessionService {
  summary(id: string): Promise<SessionSummary> {
    throw new AppError('internal', `Not yet: ${id}`);
  }

  settings(id: string): Promise<SessionSettings> {
    throw new AppError('internal', `Not yet: ${id}`);
  }

  epoch(id: string): Promise<number> {
    throw new AppError('internal', `Not yet: ${id}`);
  }
}
