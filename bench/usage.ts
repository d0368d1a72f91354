import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** What a process has used since it began (CPU, all its threads) and holds now (resident memory). */
export interface Usage {
  cpuSeconds: number;
  memoryMb: number;
}

/** The kernel counts CPU time for users in hundredths of a second on every platform. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 200;

/** @throws Error when there is no such process */
export function usageOf(pid: number): Usage {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

/** See proc(5): of `stat`, field 14 is the time in user mode, field 15 that in the kernel. */
function fromProc(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    memoryMb: Number(kilobytes) / 1024,
  };
}

/** The time is `[[DD-]HH:]MM:SS`, with hundredths of a second on macOS. */
function fromPs(pid: number): Usage {
  const shown = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' });
  const [time = '', kilobytes] = shown.trim().split(/\s+/);
  const [days, clock] = time.includes('-') ? (time.split('-') as [string, string]) : ['0', time];
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return { cpuSeconds: Number(days) * 86_400 + seconds, memoryMb: Number(kilobytes) / 1024 };
}

/** The memory of a process while something happens. */
export interface MemorySamples {
  /** MB. */
  peak(): number;
  /** All so far, the oldest first, MB. */
  all(): readonly number[];
  stop(): void;
}

export function sampleMemory(pid: number): MemorySamples {
  const samples = [usageOf(pid).memoryMb];
  const timer = setInterval(() => {
    try {
      samples.push(usageOf(pid).memoryMb);
    } catch {
      clearInterval(timer);
    }
  }, SAMPLE_MS);
  return { peak: () => Math.max(...samples), all: () => samples, stop: () => clearInterval(timer) };
}
