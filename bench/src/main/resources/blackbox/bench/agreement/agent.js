// Works as a coding agent does: asks its model, writes files, runs programs side by side, commits.
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs/promises');
const http = require('node:http');

const agent = new http.Agent({ keepAlive: true });

function ask(turn) {
  const body = JSON.stringify({ turn, messages: [{ role: 'user', content: 'x'.repeat(2000 + turn) }] });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request('@PEER@/messages', { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (data) => (text += data));
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
    request.end(body);
  });
}

function run(command, ...args) {
  return new Promise((resolve) => {
    const child = spawn(command, args);
    let text = '';
    child.stdout.on('data', (data) => (text += data));
    child.on('close', (code) => resolve(`${code} ${text.length}`));
  });
}

async function main() {
  execFileSync('git', ['init', '-q', '.']);
  execFileSync('git', ['config', 'user.email', 'agent@localhost']);
  execFileSync('git', ['config', 'user.name', 'Agent']);
  for (let turn = 0; turn < 5; turn++) {
    const answer = await ask(turn);
    const file = `answer${turn}.txt`;
    await fs.writeFile(file, answer);
    const all = await Promise.all([run('grep', '-c', '.', file), run('sha256sum', file), run('ls', '-1')]);
    console.log(turn, answer.trim(), all.join(', '));
    execFileSync('git', ['add', '-A']);
    execFileSync('git', ['commit', '-q', '-m', `turn ${turn}`]);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  console.log(execFileSync('git', ['rev-list', '--count', 'HEAD']).toString().trim());
  agent.destroy();
}

main();
