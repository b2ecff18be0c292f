import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { McpCalls } from './mcp-calls.js';
import { McpServers } from './mcp-servers.js';
import { McpStore } from './mcp.store.js';

@Module({
  imports: [ApprovalsModule],
  providers: [McpCalls, McpServers, McpStore],
  exports: [McpCalls, McpServers],
})
export class McpModule {}
