set encoding utf8
set terminal svg dynamic size 920,692 font 'sans-serif,12' noenhanced
set multiplot layout 2,2
set title 'Commits of the model by clients'
set xlabel offset 0,0.3 'Clients (number)'
set ylabel 'Commits (1/s)'
set border 3 lc rgb '#888888'
set tics nomirror scale 0.5
set grid ytics lc rgb '#888888' lw 0.3
set bars 0.6
set tmargin 2
set offsets graph 0.04, graph 0.04, 0, 0
set yrange [0:*]
set xtics nomirror scale 0.5 norotate ('1' 1, '8' 8)
set key bmargin center horizontal Left reverse maxcols 5 samplen 1.5 width 1 height 0.3
$d0 << EOD
1 5480.7 5261.472 5699.928 0.2453
8 19233 18463.68 20002.32 0.2453
EOD
$d1 << EOD
1 5316.279 5103.62784 5528.93016 0.2453
8 18656.01 17909.7696 19402.2504 0.2453
EOD
$d2 << EOD
1 767.298 736.60608 797.98992 0.2453
8 2692.62 2584.9152 2800.3248 0.2453
EOD
plot $d0 using 1:2:3:4 with yerrorlines lc rgb '#2f7fd1' dt 1 pt 5 title 'ext4', \
  $d1 using 1:2:3:4 with yerrorlines lc rgb '#d9730d' dt 1 pt 7 title 'xfs', \
  $d2 using 1:2:3:4 with yerrorlines lc rgb '#2e9e5b' dt 1 pt 9 title 'btrfs'
reset
set title 'Synchronous writes of 8 kB'
set xlabel offset 0,0.3 'Method (wal_sync_method)'
set ylabel 'Operations (1/s)'
set border 3 lc rgb '#888888'
set tics nomirror scale 0.5
set grid ytics lc rgb '#888888' lw 0.3
set bars 0.6
set tmargin 2
set xrange [-0.6:3.6]
set yrange [0:*]
set rmargin 9
set xtics nomirror scale 0.5 rotate by -30 ('open_datasync' 0, 'fdatasync' 1, 'fsync' 2, 'open_sync' 3)
set key bmargin center horizontal Left reverse maxcols 5 samplen 1.5 width 1 height 0.3
$d0 << EOD
-0.2666666667 6512.25 6316.8825 6675.05625 0.2453
0.7333333333 5812.25 5637.8825 5957.55625 0.2453
1.733333333 5112.25 4958.8825 5240.05625 0.2453
2.733333333 4412.25 4279.8825 4522.55625 0.2453
EOD
$d1 << EOD
0 6316.8825 6127.376025 6474.804562 0.2453
1 5637.8825 5468.746025 5778.829562 0.2453
2 4958.8825 4810.116025 5082.854562 0.2453
3 4279.8825 4151.486025 4386.879562 0.2453
EOD
$d2 << EOD
0.2666666667 911.715 884.36355 934.507875 0.2453
1.266666667 813.715 789.30355 834.057875 0.2453
2.266666667 715.715 694.24355 733.607875 0.2453
3.266666667 617.715 599.18355 633.157875 0.2453
EOD
plot $d0 using 1:2:3:4:5 with boxerrorbars lc rgb '#2f7fd1' fs solid 0.8 title 'ext4', \
  $d1 using 1:2:3:4:5 with boxerrorbars lc rgb '#d9730d' fs solid 0.8 title 'xfs', \
  $d2 using 1:2:3:4:5 with boxerrorbars lc rgb '#2e9e5b' fs solid 0.8 title 'btrfs'
reset
set title 'Time of one open_datasync, 8 kB'
set xlabel offset 0,0.3 'Operations no slower than that (%)'
set ylabel 'Latency (ms)'
set border 3 lc rgb '#888888'
set tics nomirror scale 0.5
set grid ytics lc rgb '#888888' lw 0.3
set bars 0.6
set tmargin 2
set offsets graph 0.04, graph 0.04, 0, 0
set logscale y
set yrange [0.1:5]
set ytics nomirror scale 0.5 ('0.1' 0.1, '0.2' 0.2, '0.5' 0.5, '1' 1, '2' 2, '5' 5)
set xtics nomirror scale 0.5 norotate ('50' 0.3010299957, '90' 1, '99' 2, '99.9' 3)
set key bmargin center horizontal Left reverse maxcols 5 samplen 1.5 width 1 height 0.3
$d0 << EOD
0.3010299957 0.141272 0.141272 0.141272 0.2453
1 0.199623 0.199623 0.199623 0.2453
2 0.368536 0.368536 0.368536 0.2453
3 1.397366 1.397366 1.397366 0.2453
EOD
$d1 << EOD
0.3010299957 0.145641 0.145641 0.145641 0.2453
1 0.205797 0.205797 0.205797 0.2453
2 0.379934 0.379934 0.379934 0.2453
3 1.440584 1.440584 1.440584 0.2453
EOD
$d2 << EOD
0.3010299957 1.009087 1.009087 1.009087 0.2453
1 1.425884 1.425884 1.425884 0.2453
2 2.632401 2.632401 2.632401 0.2453
EOD
plot $d0 using 1:2 with linespoints lc rgb '#2f7fd1' dt 1 pt 5 title 'ext4', \
  $d1 using 1:2 with linespoints lc rgb '#d9730d' dt 1 pt 7 title 'xfs', \
  $d2 using 1:2 with linespoints lc rgb '#2e9e5b' dt 1 pt 9 title 'btrfs'
unset multiplot
