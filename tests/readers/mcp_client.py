"""Asks an MCP server with the protocol's own client. Arguments: the command of the server. Standard input: a list of [tool, arguments].
Prints what the server said of itself and what it answered, as JSON.

The client first looks for a server without a handshake (2026-07-28), then offers the newest version that has one."""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    calls = json.load(sys.stdin)
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(stdio_client(server)) as client:
        await client.session.send_ping()
        tools = await client.list_tools()
        said = {
            "version": client.protocol_version,
            "server": plain(client.server_info),
            "instructions": client.instructions,
            "tools": [plain(tool) for tool in tools.tools],
            "answers": [plain(await client.call_tool(name, arguments)) for name, arguments in calls],
        }
    print(json.dumps(said))


asyncio.run(main())
