# Commands that stem-hw debug gives to gdb.
set pagination off

define restart
  monitor reset halt
  maintenance flush register-cache
  tbreak main
  continue
end
document restart
Reset the chip and run to main again.
end

define board
  monitor info
end
document board
Show the board, its cores and its memory.
end

define stats
  monitor stats
end
document stats
Show cycles, instructions and simulated time.
end

define send
  monitor send $arg0
end
document send
Send a word and a line feed to the program's console: send WORD.
With spaces: monitor send SOME WORDS.
end
