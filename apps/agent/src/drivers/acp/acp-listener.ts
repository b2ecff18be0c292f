import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';

/** What a program asks or reports of its conversation. */
export interface AcpListener {
  update(update: SessionUpdate): void;
  requestPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicit(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  /** Called with every message of the program. */
  received(): void;
  /** Resolves when all that it has reported so far is dealt with. Never rejects. */
  taken(): Promise<void>;
  /** Called with a sentence when the program has sent something invalid for the first time. */
  sentInvalid(why: string): void;
}
