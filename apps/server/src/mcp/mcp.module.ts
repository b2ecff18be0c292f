import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { McpCalls } from './mcp-calls.js';
import { McpServers } from './mcp-servers.js';

@Module({
  imports: [ApprovalsModule],
  providers: [McpCalls, McpServers],
  exports: [McpCalls, McpServers],
})
export class McpModule {}
