import { capacityFor, capacityOptions, type Machine } from '../../../src/temporal/worker/capacity';

const GB = 1024 ** 3;

function machine(cores: number, memoryGb: number, heapGb: number): Machine {
  return { cores, memory: memoryGb * GB, heap: heapGb * GB };
}

describe('what a worker does at once', () => {
  it.each([
    ['a small container', machine(1, 0.5, 0.25), { workflowThreads: 1, cachedWorkflows: 291, activities: 128 }],
    ['two cores', machine(2, 4, 2), { workflowThreads: 1, cachedWorkflows: 1_000, activities: 500 }],
    ['eight cores', machine(8, 32, 4), { workflowThreads: 4, cachedWorkflows: 1_000, activities: 500 }],
    ['many cores', machine(64, 256, 4), { workflowThreads: 4, cachedWorkflows: 1_000, activities: 500 }],
    ['hardly any memory', machine(1, 0.1, 0.05), { workflowThreads: 1, cachedWorkflows: 100, activities: 100 }],
  ])('fits %s', (_, of, expected) => {
    expect(capacityFor(of)).toMatchObject(expected);
  });

  it('is what the operator has set, and the tasks follow the threads that are set', () => {
    const set = { workflowThreads: 3, cachedWorkflows: 50, activities: 7 };
    expect(capacityFor(machine(2, 4, 2), set)).toEqual({ ...set, workflowTasks: 120 });
    expect(capacityFor(machine(2, 4, 2), { workflowTasks: 5 }).workflowTasks).toBe(5);
    expect(capacityOptions(set)).toEqual({
      workflowThreadPoolSize: 3,
      maxCachedWorkflows: 50,
      maxConcurrentWorkflowTaskExecutions: 120,
      maxConcurrentActivityTaskExecutions: 7,
    });
  });

  it('ignores what is not set, as the configuration gives it', () => {
    const unset = { workflowThreads: undefined, cachedWorkflows: undefined, activities: undefined };
    expect(capacityFor(machine(2, 4, 2), unset)).toEqual(capacityFor(machine(2, 4, 2)));
  });
});
